//! Handles of cURL that share connections: those whose share (`CurlShareHandle`) has `CURL_LOCK_DATA_CONNECT`, and multi handles that
//! such a handle was added to. They are one group, as handles on one connection are.
//!
//! A transfer keeps pointers to its connection in the cache of the share while it waits, and libcurl does not guard them: another
//! transfer may close it or give it away. libcurl reads and changes everything else that a share may have (cookies, addresses, TLS
//! sessions, public suffixes, HSTS) only between its waits, so handles that share nothing more are used at the same time.

use crate::handles::{connection_groups, groups};
use spindle_zend::{Frame, Object, PhpStatic, Value};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// `CURLOPT_SHARE`.
const SHARE: i64 = 10_100;
/// `CURLSHOPT_SHARE`.
const SHARES: i64 = 1;
/// `CURL_LOCK_DATA_CONNECT`.
const CONNECTIONS: i64 = 5;

/// The addresses of shares of this request that have connections.
static WITH_CONNECTIONS: PhpStatic<RefCell<BTreeSet<usize>>> = PhpStatic::new(RefCell::new(BTreeSet::new()));

/// Forgets all shares at the end of the request.
pub(crate) fn forget_all() {
    WITH_CONNECTIONS.borrow_mut().clear();
}

/// Returns the group of a share that has connections. Of persistent shares it is not known here which are the same, nor what they
/// have.
fn group_of_share(share: &Object) -> Option<usize> {
    match share.class().name().as_bytes() {
        b"CurlSharePersistentHandle" => Some(share.class().as_raw().addr()),
        b"CurlShareHandle" if WITH_CONNECTIONS.borrow().contains(&share.address()) => {
            Some(groups::group_id(share.address()))
        }
        _ => None,
    }
}

/// Puts handles into the group of their share, after a call of a function that may have changed that: one that sets options, makes a
/// share, copies a handle or adds one to a multi handle.
pub(crate) fn called(frame: Frame, result: &Value) {
    let argument = |at: usize| frame.arguments().get(at).map(Value::dereferenced);
    let Some(first) = argument(0).and_then(Value::as_object) else {
        if let Some(made) = result.as_object() {
            WITH_CONNECTIONS.borrow_mut().remove(&made.address());
        }
        return;
    };
    match (argument(1), argument(2)) {
        // A copy has its share from what it was made of.
        (None, _) => {
            if let Some(copy) = result.as_object() {
                join_group_of(first, copy);
            }
        }
        (Some(options), None) => {
            let share = options.as_array().and_then(|options| options.at(SHARE as u64)).map(Value::dereferenced);
            if let Some(share) = share.and_then(Value::as_object) {
                set_share(first, share);
            } else if let Some(added) = options.as_object() {
                join_group_of(added, first);
            }
        }
        (Some(option), Some(value)) => {
            let is = |value: &Value, number: i64| value.as_long().is_none_or(|value| value == number);
            if let Some(share) = value.as_object().filter(|_| is(option, SHARE)) {
                set_share(first, share);
            } else if is(option, SHARES)
                && is(value, CONNECTIONS)
                && first.class().name().as_bytes() == b"CurlShareHandle"
            {
                WITH_CONNECTIONS.borrow_mut().insert(first.address());
            }
        }
    }
}

/// Puts `handle` into the group of another one, if that is in any: handles without a share have connections of their own.
fn join_group_of(other: &Object, handle: &Object) {
    let group = groups::group_id(other.address());
    if group != other.address() {
        connection_groups::join(handle, group);
    }
}

fn set_share(handle: &Object, share: &Object) {
    if let Some(group) = group_of_share(share) {
        connection_groups::join(handle, group);
    }
}
