//! Forms: their fields, named as by PHP's parser, and uploaded files.

use crate::errors::{bad_request, too_large};
use crate::{helpers, upload};
use bytes::Bytes;
use futures_core::Stream;
use multer::Multipart;
use spindle_zend::{Array, Owned, PhpResult, Thrown, Value, engine};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Reads the next piece of a body; `None` at its end.
type Read<'a> = &'a dyn Fn() -> Result<Option<Bytes>, Thrown>;

/// Returns the fields and the files of a form with this `Content-Type`, whose body is `whole`, or is read piece by piece.
/// Another kind of body has none.
///
/// # Errors
/// The body cannot be read, or is no form in spite of its type.
pub fn parse(content_type: &str, whole: &dyn Fn() -> PhpResult, read: Read<'_>) -> Result<(Value, Value), Thrown> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/x-www-form-urlencoded" => {
            let body = whole()?;
            let text = body.as_str().map(|text| text.as_bytes().to_vec()).unwrap_or_default();
            Ok((helpers::parse(&text)?, Array::new(0).into()))
        }
        "multipart/form-data" => {
            let boundary = multer::parse_boundary(content_type).map_err(|_| bad_request("The form has no boundary"))?;
            multipart(read, boundary)
        }
        _ => Ok((Array::new(0).into(), Array::new(0).into())),
    }
}

/// The received part of a body, for the parser, which never waits itself.
#[derive(Clone, Default)]
struct Feed(Arc<Mutex<(VecDeque<Bytes>, bool)>>);

impl Feed {
    fn add(&self, piece: Option<Bytes>) {
        let mut feed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match piece {
            Some(piece) => feed.0.push_back(piece),
            None => feed.1 = true,
        }
    }
}

impl Stream for Feed {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut feed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match feed.0.pop_front() {
            Some(piece) => Poll::Ready(Some(Ok(piece))),
            None if feed.1 => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

/// Calls `poll`, and reads more of the body whenever that has to be waited for.
fn next<T>(
    read: Read<'_>,
    feed: &Feed,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<multer::Result<Option<T>>>,
) -> Result<Option<T>, Thrown> {
    loop {
        match poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(next)) => return Ok(next),
            Poll::Ready(Err(error)) => return Err(bad_request(&format!("The form is malformed: {error}"))),
            Poll::Pending => feed.add(read()?),
        }
    }
}

/// Returns the size that an ini setting stands for.
fn size_setting(name: &std::ffi::CStr) -> u64 {
    let text = engine::setting(name);
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let shift = match text.bytes().last().map(|letter| letter.to_ascii_lowercase()) {
        Some(b'k') => 10,
        Some(b'm') => 20,
        Some(b'g') => 30,
        _ => 0,
    };
    digits.parse::<u64>().unwrap_or(0).saturating_mul(1 << shift)
}

/// Appends `name=value` as in a query.
fn append(text: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    let encode = |text: &mut Vec<u8>, bytes: &[u8]| {
        for byte in bytes {
            if byte.is_ascii_alphanumeric() || b"-_.[]".contains(byte) {
                text.push(*byte);
            } else {
                text.extend_from_slice(format!("%{byte:02X}").as_bytes());
            }
        }
    };
    if !text.is_empty() {
        text.push(b'&');
    }
    encode(text, name);
    text.push(b'=');
    encode(text, value);
}

fn multipart(read: Read<'_>, boundary: String) -> Result<(Value, Value), Thrown> {
    let feed = Feed::default();
    let mut parts = Multipart::new(feed.clone(), boundary);
    let takes_files = engine::number_setting(c"file_uploads") != 0;
    let most_files = usize::try_from(engine::number_setting(c"max_file_uploads")).unwrap_or(0);
    let most_bytes = size_setting(c"upload_max_filesize");
    let most_inputs = usize::try_from(engine::number_setting(c"max_input_vars")).unwrap_or(0);
    let folder = Some(engine::setting(c"upload_tmp_dir")).filter(|folder| !folder.is_empty());
    let folder = folder.unwrap_or_else(|| std::env::temp_dir().to_string_lossy().into_owned());
    let (mut fields, mut names, mut files, mut count) = (Vec::new(), Vec::new(), Array::new(2), 0);
    while let Some(mut part) = next(read, &feed, |cx| parts.poll_next_field(cx))? {
        count += 1;
        if count > most_inputs.saturating_add(most_files) {
            return Err(too_large());
        }
        let name = part.name().unwrap_or_default().as_bytes().to_vec();
        let file_name = part.file_name().map(|name| name.as_bytes().to_vec());
        let is_file = file_name.is_some();
        let upload = match file_name {
            Some(file_name) if takes_files && files.len() < most_files && !name.is_empty() => {
                let kind = part.content_type().map_or(String::new(), ToString::to_string);
                let upload = upload::make(&file_name, kind.as_bytes(), &folder);
                // The array holds it from now on: it is removed with the array in any case.
                append(&mut names, &name, files.len().to_string().as_bytes());
                files.push(upload.object().into());
                Some((upload, file_name.is_empty()))
            }
            _ => None,
        };
        let mut text = Vec::new();
        while let Some(piece) = next(read, &feed, |cx| poll_piece(&mut part, cx))? {
            match &upload {
                Some((upload, _)) if upload.size() + piece.len() as u64 > most_bytes => upload.fail(upload::TOO_LARGE),
                Some((upload, _)) => upload.write(&piece),
                None if !is_file => text.extend_from_slice(&piece),
                None => {}
            }
        }
        match upload {
            Some((upload, true)) if upload.size() == 0 => upload.fail(upload::NO_FILE),
            Some((upload, _)) => upload.close(),
            None if !is_file && !name.is_empty() => append(&mut fields, &name, &text),
            None => {}
        }
    }
    let fields = helpers::parse(&fields)?;
    let files = nested(&names, files)?;
    Ok((fields, files))
}

fn nested(names: &[u8], files: Owned<Array>) -> Result<Value, Thrown> {
    if files.is_empty() {
        return Ok(files.into());
    }
    helpers::call("files", &mut [spindle_zend::Str::new(names).into(), files.into()])
}

fn poll_piece(part: &mut multer::Field<'_>, cx: &mut Context<'_>) -> Poll<multer::Result<Option<Bytes>>> {
    match Pin::new(part).poll_next(cx) {
        Poll::Pending => Poll::Pending,
        Poll::Ready(None) => Poll::Ready(Ok(None)),
        Poll::Ready(Some(piece)) => Poll::Ready(piece.map(Some)),
    }
}
