//! Workers that accept connections of one socket tell each other how many they have.

mod world;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use spindle_server::{Board, Settings};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use world::World;

/// The size of a place.
const PLACE: u64 = 512;

fn memory(places: u64) -> OwnedFd {
    let memory = memfd_create("board", MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&memory, places * PLACE).unwrap();
    fcntl_add_seals(&memory, SealFlags::SHRINK).unwrap();
    memory
}

fn open(memory: &OwnedFd, place: usize) -> std::io::Result<Board> {
    Board::open(memory.try_clone().unwrap(), place)
}

/// A server beside another one that accepts connections, and has this many.
fn beside(others: u64) -> (World, Board) {
    let memory = memory(4);
    let other = open(&memory, 3).unwrap();
    other.set_accepts(true);
    other.tell(1, [others]);
    let world = World::echo(Settings { board: Some(Rc::new(open(&memory, 0).unwrap())), ..Settings::default() });
    (world, other)
}

#[test]
fn only_memory_that_cannot_shrink_is_taken() {
    let unsealed = memfd_create("board", MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&unsealed, PLACE).unwrap();
    assert!(open(&unsealed, 0).is_err());
    assert!(open(&memory(2), 1).is_ok());
    assert!(open(&memory(2), 2).is_err());
    assert!(open(&memory(0), 0).is_err());
    assert!(Board::open(std::fs::File::open("/dev/null").unwrap().into(), 0).is_err());
}

#[test]
fn connections_are_left_to_a_worker_that_has_fewer() {
    let (world, other) = beside(0);
    let clients: Vec<_> = (0..5).map(|_| world.client_without_wait()).collect();
    world.step();
    // 3 are more than 1 above the mean.
    assert_eq!(world.server.stats().connections, 3);
    world.advance(1_000_000);
    assert_eq!(world.server.stats().connections, 3);
    // The other one has accepted some elsewhere.
    other.tell(1, [10]);
    world.advance(1_000_000);
    assert_eq!(world.server.stats().connections, 5);
    drop(clients);
}

#[test]
fn what_no_other_worker_accepts_in_time_is_accepted() {
    let (world, _other) = beside(0);
    let clients: Vec<_> = (0..40).map(|_| world.client_without_wait()).collect();
    world.step();
    assert_eq!(world.server.stats().connections, 3);
    world.advance(4_000_000);
    assert_eq!(world.server.stats().connections, 3);
    // All of them then, without further waits.
    world.advance(1_000_000);
    assert_eq!(world.server.stats().connections, 40);
    // Those that come later are left to others again.
    let more = world.client_without_wait();
    world.step();
    assert_eq!(world.server.stats().connections, 40);
    world.advance(5_000_000);
    assert_eq!(world.server.stats().connections, 41);
    drop((clients, more));
}

#[test]
fn workers_that_accept_nothing_do_not_count() {
    let (world, other) = beside(0);
    other.set_accepts(false);
    let clients: Vec<_> = (0..20).map(|_| world.client_without_wait()).collect();
    world.step();
    assert_eq!(world.server.stats().connections, 20);
    drop(clients);
}

#[test]
fn one_that_drains_says_so() {
    let (world, other) = beside(0);
    let clients: Vec<_> = (0..3).map(|_| world.client_without_wait()).collect();
    world.step();
    assert!(!other.is_ahead(2)); // than 1.5, and 1
    assert!(other.is_ahead(3));
    world.server.drain(None);
    world.step();
    assert!(!other.is_ahead(1)); // it has 0 itself
    assert!(other.is_ahead(2));
    drop(clients);
}

#[test]
fn numbers_that_are_wrong_do_no_harm() {
    let (world, _other) = beside(u64::MAX);
    let clients: Vec<_> = (0..5).map(|_| world.client_without_wait()).collect();
    world.step();
    assert_eq!(world.server.stats().connections, 5);
    drop(clients);
}
