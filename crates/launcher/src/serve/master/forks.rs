//! Where more than one worker serves, a PHP of each generation forks them.

use super::Master;
use crate::console::{self, Status};
use crate::serve::process;
use crate::serve::worker::{Process, Worker};
use crate::serve::zygote::{Answer, Zygote};
use rustix::io::Errno;
use rustix::process::Pid;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitStatus;
use std::time::Instant;

impl Master<'_> {
    /// Starts a worker of a generation, with arguments for its PHP.
    pub(super) fn begin_worker(
        &mut self,
        number: usize,
        generation: u32,
        arguments: &[OsString],
    ) -> Result<Worker, String> {
        let terms = self.next_terms.as_ref().unwrap_or(&self.terms);
        let (is_forked, grace) = (terms.forks, terms.grace);
        if !is_forked {
            let mut command = self.command()?;
            command.args(arguments);
            let program = command.get_program().to_string_lossy().into_owned();
            let sockets = self.sockets.as_ref().map_or(&[][..], |sockets| &sockets.open);
            return Worker::start(command, number, generation, grace, sockets, &mut self.board)
                .map_err(|error| format!("{program}: {}", console::reason(&error)));
        }
        loop {
            let place = self.zygote(generation)?;
            let zygote = &mut self.zygotes[place];
            match Worker::fork(zygote, number, grace, arguments, &mut self.board) {
                Ok(worker) => return Ok(worker),
                Err(error) if has_ended(&error) => zygote.is_gone(),
                Err(error) => return Err(format!("the PHP that forks workers: {}", console::reason(&error))),
            }
        }
    }

    /// Returns the one of a generation, which is started if there is none.
    fn zygote(&mut self, generation: u32) -> Result<usize, String> {
        let is_its = |zygote: &Zygote| zygote.generation == generation && zygote.is_there();
        if let Some(place) = self.zygotes.iter().position(is_its) {
            return Ok(place);
        }
        let command = self.command()?;
        let program = command.get_program().to_string_lossy().into_owned();
        let sockets = self.sockets.iter().flat_map(|sockets| &sockets.open).map(OwnedFd::as_fd);
        let inherits: Vec<_> = sockets.chain([self.board.file()]).collect();
        let zygote = Zygote::start(command, generation, &inherits)
            .map_err(|error| format!("{program}: {}", console::reason(&error)))?;
        self.zygotes.push(zygote);
        Ok(self.zygotes.len() - 1)
    }

    /// Takes what they have answered.
    pub(super) fn listen_to_zygotes(&mut self) {
        for place in 0..self.zygotes.len() {
            let zygote = self.zygotes[place].pid;
            for answer in self.zygotes[place].listen() {
                self.answered(place, zygote, answer);
            }
        }
    }

    fn answered(&mut self, place: usize, zygote: Pid, answer: Answer) {
        let awaited = |number| Process::Awaited { zygote, number };
        match answer {
            Answer::Forked(number, pid) => {
                if let Some(worker) = self.workers.iter_mut().find(|worker| worker.process == awaited(number)) {
                    worker.is_there(pid);
                }
            }
            Answer::Failed(number, why) => {
                if let Some(place) = self.workers.iter().position(|worker| worker.process == awaited(number)) {
                    let worker = self.remove(place);
                    self.not_forked(&worker, &why);
                }
            }
            Answer::Alone(why) => {
                let generation = self.zygotes[place].generation;
                self.zygotes[place].is_told = true;
                let next = self.next_terms.as_mut().filter(|_| self.next == Some(generation));
                next.unwrap_or(&mut self.terms).forks = false;
                self.lines.say(&format!("spindle: each worker starts a PHP of its own, as {why}"));
            }
        }
    }

    /// A worker could not be forked.
    fn not_forked(&mut self, worker: &Worker, why: &str) {
        if self.stopping.is_some() || worker.is_told {
            return;
        }
        if self.is_hopeless(worker) {
            self.lines.say(&format!("spindle: PHP cannot be forked: {why}"));
            self.stopping = Some(Status::Failed);
        } else {
            self.failed(worker.generation, &format!("cannot be forked: {why}"));
        }
    }

    /// Ends those whose workers do not serve any more, and forgets those that have ended.
    pub(super) fn end_zygotes(&mut self) {
        let (is_stopping, serving) = (self.stopping.is_some(), [Some(self.generation), self.next]);
        for zygote in &mut self.zygotes {
            if is_stopping || !serving.contains(&Some(zygote.generation)) {
                zygote.end();
            }
        }
        let now = Instant::now();
        let gone: Vec<_> = self.zygotes.extract_if(.., |zygote| zygote.end_of(now).is_some()).collect();
        for zygote in gone {
            zygote.end_of(now).into_iter().for_each(|status| self.zygote_ended(&zygote, status));
        }
    }

    fn zygote_ended(&mut self, zygote: &Zygote, status: ExitStatus) {
        if zygote.has_forked && !zygote.is_told {
            let how = process::how(status);
            self.lines
                .say(&format!("spindle: the PHP that forks workers {how}: the next worker has another one start"));
        }
        // Those that it has not forked.
        while let Some(place) = self.workers.iter().position(|worker| worker.process.is_awaited_of(zygote.pid)) {
            let worker = self.remove(place);
            if zygote.is_told && status.success() {
                continue; // it cannot fork, and they are started otherwise
            }
            self.ended(&worker, status);
        }
    }

    /// Ends a PHP that does not get to fork a worker.
    pub(super) fn end_zygote_of(&mut self, place: usize) {
        let process = self.workers[place].process;
        self.zygotes.iter_mut().filter(|zygote| process.is_awaited_of(zygote.pid)).for_each(Zygote::end);
    }
}

fn has_ended(error: &io::Error) -> bool {
    let errno = error.raw_os_error();
    [Errno::PIPE, Errno::CONNRESET, Errno::NOTCONN].iter().any(|ended| errno == Some(ended.raw_os_error()))
}
