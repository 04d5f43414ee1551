//! A file that is sent in place of a script's response.

use super::call::{Call, Stop};
use super::sendfile;
use crate::event_loop::Job;
use crate::files::{self, Place};
use crate::response::{Body, Head, SENDFILE_HEADERS};
use http::StatusCode;
use http::header::{self, HeaderName};
use std::future::poll_fn;

/// What the file says of itself, whatever the script has said.
static OF_FILE: [HeaderName; 7] = [
    header::CONTENT_LENGTH,
    header::CONTENT_ENCODING,
    header::TRANSFER_ENCODING,
    header::ETAG,
    header::LAST_MODIFIED,
    header::ACCEPT_RANGES,
    header::CONTENT_RANGE,
];

/// Sends the file in place of the script's response, whose other headers it has.
pub async fn send(call: &Call, mut given: Head) -> Result<(), Stop> {
    let places = sendfile::places(&call.asked.site.sendable, &given.headers);
    let found = if places.is_empty() {
        None
    } else {
        let job = Job::spawn(call.event_loop(), move || Place::find(places));
        poll_fn(|cx| {
            call.check(cx)?;
            job.poll(cx).map(Ok)
        })
        .await?
        .ok_or(Stop::Refused(StatusCode::SERVICE_UNAVAILABLE))?
    };
    let Some((place, found)) = found else {
        let what = sendfile::asked(&given.headers)
            .map(|(header, value)| format!("{header}: {}", String::from_utf8_lossy(value)));
        let text = format!("{} names no file that may be sent", what.unwrap_or_default());
        call.log(text.into_bytes());
        let (head, body) = files::plain(StatusCode::NOT_FOUND);
        call.exchange.respond(head, body);
        return Ok(());
    };
    let (mut head, body): (Head, Body) = place.response(call.exchange.head(), found);
    let is_file = matches!(head.status, StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::NOT_MODIFIED);
    SENDFILE_HEADERS.iter().chain(&OF_FILE).for_each(|name| drop(given.headers.remove(name)));
    if is_file {
        for name in given.headers.keys() {
            head.headers.remove(name);
        }
        for (name, value) in &given.headers {
            head.headers.append(name, value.clone());
        }
    }
    if !call.exchange.respond(head, body) {
        return Err(Stop::Gone);
    }
    Ok(())
}
