//! What hyper calls for each request.

use crate::body::Outgoing;
use crate::conn::Connection;
use crate::discard::Discard;
use crate::dispatch::Dispatcher;
use crate::encoding::words;
use crate::event_loop::Job;
use crate::exchange::{Exchange, has_surrounding_space};
use crate::fastcgi;
use crate::fastcgi::call::{Asked, Call};
use crate::fastcgi::script::Found;
use crate::fastcgi::site::Site;
use crate::files::{self, Lookup, Place};
use crate::identity;
use crate::log::Entry;
use crate::response::{Body, Content, copy_version, refusal};
use crate::targets;
use crate::ws;
use http::{HeaderMap, Method, Request, Response, StatusCode, Version, header};
use std::cell::RefCell;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

/// The exchanges of a connection. Its task drops those that have ended.
pub type Active = Rc<RefCell<Vec<Rc<Exchange>>>>;

/// The service of one connection. It lives as long as hyper's buffers for it.
pub struct Service {
    dispatcher: Rc<Dispatcher>,
    connection: Rc<Connection>,
    active: Active,
}

/// A request that will not be answered: its connection is closed, or its stream reset.
#[derive(Debug)]
pub struct Aborted;

impl fmt::Display for Aborted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request is not answered")
    }
}

impl std::error::Error for Aborted {}

impl hyper::service::Service<Request<hyper::body::Incoming>> for Service {
    type Response = Response<Outgoing>;
    type Error = Aborted;
    type Future = Reply;

    fn call(&self, request: Request<hyper::body::Incoming>) -> Reply {
        let shared = &self.dispatcher.shared;
        let number = shared.requests.get() + 1;
        shared.requests.set(number);
        if let Some(status) = self.rejection(&request) {
            shared.refused.set(shared.refused.get() + 1);
            self.connection.request_refused();
            let (parts, body) = request.into_parts();
            if parts.version == Version::HTTP_2 {
                shared.event_loop.exec.spawn(Discard::new(shared, body));
            }
            let (mut head, body) = refusal(status);
            let origin = self.connection.origin(&parts);
            let id = || shared.id_of(number, origin.as_deref(), &parts);
            if shared.settings.send_request_id {
                identity::add(&mut head.headers, &id());
            }
            shared.ended.count(status.as_u16(), Some(0));
            self.dispatcher.log(|| {
                let length = if let Body::Full(bytes) = &body { bytes.len() as u64 } else { 0 };
                let bytes = if parts.method == Method::HEAD { 0 } else { length };
                let duration = shared.event_loop.driver.now().saturating_sub(shared.event_loop.now.get());
                let entry = Entry::new(&self.connection, origin.as_deref(), &parts, id());
                Entry { status: status.as_u16(), bytes, duration, ..entry }
            });
            let content = if let Body::Full(bytes) = body { Content::Full(bytes) } else { Content::Empty };
            let mut response = head.with_body(Outgoing::new(content, None));
            copy_version(&mut response, &parts);
            return Reply { refused: Some(response), exchange: None };
        }
        let (mut parts, incoming) = request.into_parts();
        targets::normalize(&mut parts);
        self.connection.start_exchange(parts.version);
        let exchange = Exchange::new(Rc::clone(&self.dispatcher), Rc::clone(&self.connection), parts, incoming);
        self.active.borrow_mut().push(Rc::clone(&exchange));
        self.route(&exchange);
        Reply { refused: None, exchange: Some(exchange) }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let services = &self.dispatcher.shared.services;
        services.set(services.get() - 1);
    }
}

impl Service {
    pub fn new(dispatcher: &Rc<Dispatcher>, connection: &Rc<Connection>, active: &Active) -> Service {
        let services = &dispatcher.shared.services;
        services.set(services.get() + 1);
        Service { dispatcher: Rc::clone(dispatcher), connection: Rc::clone(connection), active: Rc::clone(active) }
    }

    /// Answers a request with a file, or hands it to a handler.
    fn route(&self, exchange: &Rc<Exchange>) {
        let shared = &self.dispatcher.shared;
        let head = exchange.head();
        let roots = shared.roots.borrow();
        if roots.is_empty() || !matches!(head.method, Method::GET | Method::HEAD) || ws::is_asked(head) {
            return hand_over(&self.dispatcher, exchange);
        }
        match files::look_up(&roots, head) {
            Lookup::None => hand_over(&self.dispatcher, exchange),
            Lookup::Response(head, body) => self.dispatcher.answer_with_file(exchange, head, body),
            Lookup::Blocked(places) => self.look_up_blocking(exchange, places),
        }
    }

    /// Opens the file on another thread.
    fn look_up_blocking(&self, exchange: &Rc<Exchange>, places: Vec<Place>) {
        let event_loop = &self.dispatcher.shared.event_loop;
        let job = Job::spawn(event_loop, move || Place::find(places));
        let (dispatcher, exchange) = (Rc::clone(&self.dispatcher), Rc::clone(exchange));
        event_loop.exec.spawn(async move {
            let found = poll_fn(|cx| job.poll(cx)).await;
            if !exchange.is_queued() {
                return; // the client has left, or the time has passed
            }
            match found {
                Some(Some((place, found))) => {
                    let (head, body) = place.response(exchange.head(), found);
                    dispatcher.answer_with_file(&exchange, head, body);
                }
                Some(None) => hand_over(&dispatcher, &exchange),
                None => exchange.refuse(StatusCode::SERVICE_UNAVAILABLE),
            }
        });
    }

    /// Returns the status with which to refuse a request that no handler is to see.
    fn rejection(&self, request: &Request<hyper::body::Incoming>) -> Option<StatusCode> {
        let headers = request.headers();
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next();
        // RFC 9112, 3.2: exactly one.
        if request.version() == Version::HTTP_11 && host.is_none() || hosts.next().is_some() {
            return Some(StatusCode::BAD_REQUEST);
        }
        if request.version() == Version::HTTP_2 {
            if lines(headers) > self.dispatcher.shared.settings.max_headers {
                return Some(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
            }
            if has_surrounding_space(headers) {
                return Some(StatusCode::BAD_REQUEST);
            }
        }
        if request.method() == Method::CONNECT {
            return Some(StatusCode::NOT_IMPLEMENTED);
        }
        if !targets::is_valid(request.method(), request.version(), request.uri(), host) {
            return Some(StatusCode::BAD_REQUEST);
        }
        if let Some(refused) = reject_coding(request.version(), headers) {
            return Some(refused);
        }
        let length = http_body::Body::size_hint(request.body()).lower();
        (length > self.dispatcher.shared.settings.max_body_size).then_some(StatusCode::PAYLOAD_TOO_LARGE)
    }
}

/// Hands a request for which there is no file to its site, if there is one, or else to a handler.
fn hand_over(dispatcher: &Rc<Dispatcher>, exchange: &Rc<Exchange>) {
    let path = exchange.head().uri.path();
    let sites = dispatcher.sites.borrow();
    let Some((site, rest)) = sites.iter().find_map(|site| Some((site, site.rest(path)?))) else {
        return dispatcher.dispatch(exchange);
    };
    match site.find_cached(rest) {
        Some(found) => run(dispatcher, exchange, site, found),
        None => {
            let (dispatcher, exchange, site) = (Rc::clone(dispatcher), Rc::clone(exchange), Rc::clone(site));
            let event_loop = Rc::clone(&dispatcher.shared.event_loop);
            event_loop.exec.clone().spawn(async move {
                let rest = site.rest(exchange.head().uri.path()).unwrap_or_default();
                let found = site.find(&event_loop, rest).await;
                if exchange.is_queued() {
                    run(&dispatcher, &exchange, &site, found);
                }
            });
        }
    }
}

/// Has a script run, or says why there is none.
fn run(dispatcher: &Rc<Dispatcher>, exchange: &Rc<Exchange>, site: &Rc<Site>, found: Found) {
    let uri = &exchange.head().uri;
    let (head, body) = match found {
        Found::Script(script) => {
            let (asked, to) = (Asked { site: Rc::clone(site), script }, Rc::clone(dispatcher));
            exchange.set_own(Box::new(move |exchange| {
                let call = Call::begin(&to, exchange, asked);
                to.shared.event_loop.exec.spawn(fastcgi::serve(call));
            }));
            return dispatcher.dispatch(exchange);
        }
        Found::Folder => files::to_folder(uri.path(), uri.query()),
        Found::Refused(status) => files::plain(status),
    };
    exchange.respond(head, body);
}

/// Returns the number of header lines. With HTTP/2 each cookie may have its own line; these count as one.
fn lines(headers: &HeaderMap) -> usize {
    let cookies = headers.get_all(header::COOKIE).iter().count();
    headers.len() - cookies.saturating_sub(1)
}

/// Returns the status with which to refuse a request because of its transfer coding. hyper has found chunks to be the last one.
fn reject_coding(version: Version, headers: &HeaderMap) -> Option<StatusCode> {
    if !headers.contains_key(header::TRANSFER_ENCODING) {
        return None;
    }
    // RFC 9112, 6.1: in a message of HTTP/1.0 it is to be treated as faulty framing.
    if version == Version::HTTP_10 {
        return Some(StatusCode::BAD_REQUEST);
    }
    let mut codings = words(headers, header::TRANSFER_ENCODING);
    match codings.next() {
        Some(first) if !first.eq_ignore_ascii_case(b"chunked") => Some(StatusCode::NOT_IMPLEMENTED),
        _ => codings.next().map(|_| StatusCode::BAD_REQUEST),
    }
}

/// The response to one request. hyper drops it if the client leaves before.
pub struct Reply {
    /// The response, if no handler makes it.
    refused: Option<Response<Outgoing>>,
    /// The exchange, until its response was taken.
    exchange: Option<Rc<Exchange>>,
}

impl Future for Reply {
    type Output = Result<Response<Outgoing>, Aborted>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let Some(exchange) = &this.exchange else { return Poll::Ready(this.refused.take().ok_or(Aborted)) };
        let Ok(response) = ready!(exchange.poll_reply(cx)) else {
            this.exchange = None;
            return Poll::Ready(Err(Aborted));
        };
        // A WebSocket continues after its answer is sent.
        let exchange = this.exchange.take().filter(|exchange| exchange.websocket().is_none());
        Poll::Ready(Ok(response.map(|content| Outgoing::new(content, exchange))))
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if let Some(exchange) = self.exchange.take() {
            exchange.disconnect();
        }
    }
}
