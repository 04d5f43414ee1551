//! The options of a server.

use crate::errors::value_error;
use crate::{tls, topics};
use http::HeaderValue;
use ipnet::IpNet;
use spindle_server::{
    Board, FileOptions, LogFormat, Proxies, Settings, SiteOptions, Uplink, is_code, set_close_on_exec,
};
use spindle_zend::{Array, Str, Thrown, Value, sys};
use std::net::IpAddr;
use std::path::PathBuf;
use std::rc::Rc;

/// The longest time in seconds: a century.
const MOST_SECONDS: f64 = 3.2e9;

fn seconds(name: &str, value: &Value) -> Result<u64, Thrown> {
    let given = value.as_double().or_else(|| value.as_long().map(|number| number as f64));
    match given {
        Some(time) if (0.0..=MOST_SECONDS).contains(&time) => Ok((time * 1e9) as u64),
        _ => Err(value_error(&format!("The option \"{name}\" must be a number of seconds, 0 for no limit"))),
    }
}

fn count(name: &str, value: &Value, least: i64) -> Result<u64, Thrown> {
    match value.as_long() {
        Some(number) if number >= least => Ok(number as u64),
        _ => Err(value_error(&format!("The option \"{name}\" must be an int of at least {least}"))),
    }
}

fn size(name: &str, value: &Value, least: i64) -> Result<usize, Thrown> {
    count(name, value, least).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}

fn small(name: &str, value: &Value, least: i64) -> Result<u32, Thrown> {
    count(name, value, least).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

fn log_format(name: &str, value: &Value) -> Result<LogFormat, Thrown> {
    match value.as_str().map(Str::to_text).as_deref() {
        Some("text") => Ok(LogFormat::Text),
        Some("json") => Ok(LogFormat::Json),
        Some("logfmt") => Ok(LogFormat::Logfmt),
        _ => Err(value_error(&format!("The option \"{name}\" must be \"text\", \"json\" or \"logfmt\""))),
    }
}

/// Adds networks of proxies: addresses, with or without the length of a prefix, or `unix`.
fn trusted(name: &str, value: &Value, proxies: &mut Proxies) -> Result<(), Thrown> {
    let wrong =
        || value_error(&format!("The option \"{name}\" must be a list of \"address\", \"address/length\" or \"unix\""));
    let Some(list) = value.as_array() else { return Err(wrong()) };
    let mut position = 0;
    while let Some((_, one)) = list.next_from(&mut position) {
        let Some(text) = one.as_str().map(Str::to_text) else { return Err(wrong()) };
        match text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)) {
            Ok(network) => proxies.networks.push(network),
            Err(_) if text == "unix" => proxies.unix = true,
            Err(_) => return Err(wrong()),
        }
    }
    Ok(())
}

/// Keeps streams, and descriptors with these numbers, from the programs that the app starts. For `spindle serve`, whose code PHP gives
/// no way to do so.
fn close_on_exec(name: &str, value: &Value) -> Result<(), Thrown> {
    let wrong =
        || value_error(&format!("The option \"{name}\" must be a list of streams and of numbers of descriptors"));
    let list = value.as_array().ok_or_else(wrong)?;
    let mut position = 0;
    while let Some((_, one)) = list.next_from(&mut position) {
        match one.as_long() {
            Some(number) => i32::try_from(number).into_iter().for_each(set_close_on_exec),
            None if one.is_open_stream() => one.stream_descriptor().into_iter().for_each(set_close_on_exec),
            None => return Err(wrong()),
        }
    }
    Ok(())
}

/// Opens the board of the workers, of the number of a descriptor and that of a place. For `spindle serve`.
fn board(name: &str, value: &Value) -> Result<Rc<Board>, Thrown> {
    let wrong =
        || value_error(&format!("The option \"{name}\" must be a descriptor and a place on a board of workers"));
    let (list, mut position) = (value.as_array().ok_or_else(wrong)?, 0);
    let mut number = || list.next_from(&mut position).and_then(|(_, number)| number.as_long()).ok_or_else(wrong);
    let (fd, place) = (i32::try_from(number()?), usize::try_from(number()?));
    let (Ok(fd @ 3..), Ok(place)) = (fd, place) else { return Err(wrong()) };
    Board::inherited(fd, place).map(Rc::new).map_err(|_| wrong())
}

/// Has topics pass messages on by the socket of this number. For `spindle serve`.
fn topics(name: &str, value: &Value) -> Result<(), Thrown> {
    let number = value.as_long().and_then(|number| i32::try_from(number).ok()).filter(|number| *number > 2);
    let uplink = number.and_then(|number| Uplink::inherited(number).ok());
    let wrong = || value_error(&format!("The option \"{name}\" must be a descriptor"));
    topics::connect(uplink.ok_or_else(wrong)?);
    Ok(())
}

/// Returns how files are sent, for an array of options.
///
/// # Errors
/// There is no such option, or it has another type.
pub fn files(options: &Array) -> Result<FileOptions, Thrown> {
    let mut files = FileOptions::default();
    let mut position = 0;
    while let Some((key, value)) = options.next_from(&mut position) {
        let name = key.as_str().map_or(String::new(), Str::to_text);
        match name.as_str() {
            "index" if value.type_number() == sys::IS_NULL => files.index = None,
            "index" => files.index = Some(file_name(&name, value)?),
            "cache_control" => {
                let line = value.as_str().and_then(|text| HeaderValue::from_bytes(text.as_bytes()).ok());
                let wrong = || value_error(&format!("The option \"{name}\" must be the value of a header"));
                files.cache_control = Some(line.ok_or_else(wrong)?);
            }
            "precompressed" => files.precompressed = flag(&name, value)?,
            "dot_files" => files.dot_files = flag(&name, value)?,
            _ => return Err(value_error(&format!("There is no option \"{name}\""))),
        }
    }
    Ok(files)
}

/// Returns how scripts are run by a FastCGI server, for an array of options.
///
/// # Errors
/// There is no such option, or it has another type.
pub fn fastcgi(options: &Array) -> Result<SiteOptions, Thrown> {
    let mut site = SiteOptions::default();
    let mut position = 0;
    while let Some((key, value)) = options.next_from(&mut position) {
        let name = key.as_str().map_or(String::new(), Str::to_text);
        match name.as_str() {
            "document_root" => {
                let path =
                    value.as_str().map(Str::as_bytes).filter(|path| path.starts_with(b"/") && !path.contains(&0));
                let wrong = || value_error(&format!("The option \"{name}\" must be an absolute path"));
                site.document_root = Some(path.ok_or_else(wrong)?.to_vec());
            }
            "front_controller" => site.front_controller = flag(&name, value)?,
            "sendfile" => sendfile(&name, value, &mut site.sendfile)?,
            "connections" => site.connections = size(&name, value, 1)?,
            "keep_connections" => site.keep = size(&name, value, 0)?,
            _ => return Err(value_error(&format!("There is no option \"{name}\""))),
        }
    }
    Ok(site)
}

/// Adds folders whose files scripts may have sent, one or a list of them for each path of URLs.
fn sendfile(name: &str, value: &Value, all: &mut Vec<(String, PathBuf)>) -> Result<(), Thrown> {
    let wrong = || {
        value_error(&format!(
            "The option \"{name}\" must be an array of directories, or of lists of them, by paths of URLs"
        ))
    };
    let (list, mut position) = (value.as_array().ok_or_else(wrong)?, 0);
    while let Some((key, folders)) = list.next_from(&mut position) {
        let prefix = key.as_str().map(Str::to_text).filter(|prefix| prefix.starts_with('/')).ok_or_else(wrong)?;
        let mut add = |folder: &Value| -> Result<(), Thrown> {
            all.push((prefix.clone(), tls::path(folder.as_str().ok_or_else(wrong)?)?));
            Ok(())
        };
        match folders.as_array() {
            None => add(folders)?,
            Some(folders) => {
                let mut position = 0;
                while let Some((_, folder)) = folders.next_from(&mut position) {
                    add(folder)?;
                }
            }
        }
    }
    Ok(())
}

fn flag(name: &str, value: &Value) -> Result<bool, Thrown> {
    match value.type_number() {
        sys::IS_TRUE => Ok(true),
        sys::IS_FALSE => Ok(false),
        _ => Err(value_error(&format!("The option \"{name}\" must be a bool"))),
    }
}

/// Returns the name of a file, which has no folder.
fn file_name(name: &str, value: &Value) -> Result<String, Thrown> {
    let text = value.as_str().map(Str::to_text).filter(|text| {
        !matches!(text.as_str(), "" | "." | "..")
            && !text.contains(['/', '\0'])
            && !text.contains(char::REPLACEMENT_CHARACTER)
            && !is_code(text.as_bytes())
    });
    text.ok_or_else(|| {
        value_error(&format!("The option \"{name}\" must be null, or the name of a file that is not code of PHP"))
    })
}

/// Returns the settings for an array of options.
///
/// # Errors
/// There is no such option, or it has another type.
pub fn settings(options: &Array) -> Result<Settings, Thrown> {
    let mut settings = Settings::default();
    let mut position = 0;
    while let Some((key, value)) = options.next_from(&mut position) {
        let name = key.as_str().map_or(String::new(), Str::to_text);
        match name.as_str() {
            "max_connections" => settings.max_connections = size(&name, value, 1)?,
            "max_concurrency" => settings.max_concurrency = size(&name, value, 1)?,
            "instance_requests" => settings.instance_requests = count(&name, value, 0)?,
            "queue_timeout" => settings.queue_timeout = seconds(&name, value)?,
            "header_timeout" => settings.header_timeout = seconds(&name, value)?,
            "body_timeout" => settings.body_timeout = seconds(&name, value)?,
            "min_body_rate" => settings.min_body_rate = count(&name, value, 0)?,
            "keep_alive" => settings.keep_alive = seconds(&name, value)?,
            "request_timeout" => settings.request_timeout = seconds(&name, value)?,
            "slow_request" => settings.slow_request = seconds(&name, value)?,
            "send_request_id" => settings.send_request_id = flag(&name, value)?,
            "error_log" => settings.error_log = log_format(&name, value)?,
            "worker" => settings.worker = small(&name, value, 1)?,
            "cancel_grace" => settings.cancel_grace = seconds(&name, value)?,
            "fatal_grace" => settings.fatal_grace = seconds(&name, value)?,
            "idle_grace" => settings.idle_grace = seconds(&name, value)?,
            "write_timeout" => settings.write_timeout = seconds(&name, value)?,
            "write_window" => settings.write_window = size(&name, value, 1)?,
            "max_buffered" => settings.max_buffered = size(&name, value, 0)?,
            "max_header_size" => settings.max_header_size = size(&name, value, 8192)?,
            "max_headers" => settings.max_headers = size(&name, value, 1)?,
            "max_body_size" => settings.max_body_size = count(&name, value, 0)?,
            "discard_size" => settings.discard_size = count(&name, value, 0)?,
            "discard_timeout" => settings.discard_timeout = seconds(&name, value)?,
            "h2_streams" => settings.h2_streams = small(&name, value, 1)?,
            "h2_reset_streams" => settings.h2_reset_streams = size(&name, value, 1)?,
            "h2_local_resets" => settings.h2_local_resets = size(&name, value, 1)?,
            "h2_send_buffer" => settings.h2_send_buffer = size(&name, value, 1024)?.min(1 << 30),
            "h2_header_list" => settings.h2_header_list = small(&name, value, 1024)?,
            "compression" => settings.compression = flag(&name, value)?,
            "compression_size" => settings.compression_size = size(&name, value, 0)?,
            "trusted_proxies" => trusted(&name, value, &mut settings.proxies)?,
            "forwarded_headers" => {
                settings.proxies.standard = match value.as_str().map(Str::to_text).as_deref() {
                    Some("x-forwarded") => false,
                    Some("forwarded") => true,
                    _ => {
                        return Err(value_error(
                            "The option \"forwarded_headers\" must be \"x-forwarded\" or \"forwarded\"",
                        ));
                    }
                }
            }
            "websocket_message" => settings.websocket_message = size(&name, value, 1)?,
            "websocket_frame" => settings.websocket_frame = size(&name, value, 1)?,
            "websocket_ping" => settings.websocket_ping = seconds(&name, value)?,
            "board" => settings.board = Some(board(&name, value)?),
            "topics" => topics(&name, value)?,
            "close_on_exec" => close_on_exec(&name, value)?,
            _ => return Err(value_error(&format!("There is no option \"{name}\""))),
        }
    }
    Ok(settings)
}
