//! Which handles share a connection: those that were made from one another (a `PDO` and its statements), and those of
//! one persistent connection. They count as one, by the handle or the number that stands for all: their *root*.
//!
//! What makes handles has a trampoline from the first request on, not only from the first `spawn`: a statement that was
//! prepared before it is known to belong to its connection. Two things are done by the objects' handlers: the end of one may
//! talk to its server, and some find methods in a table of their own (`PDO::pgsqlGetNotify`). Extensions know their objects
//! by the address of their handlers, so it is the entries of these tables that are changed, never an object's pointer.

use crate::handles::{
    classify::{self, Mode},
    handle_locks, persistent, trampolines,
};
use spindle_php_sys as sys;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr::addr_of_mut;

type FreeObject = unsafe extern "C" fn(*mut sys::zend_object);
type GetMethod = unsafe extern "C" fn(
    *mut *mut sys::zend_object,
    *mut sys::zend_string,
    *const sys::zval,
) -> *mut sys::zend_function;

struct Table {
    roots: RefCell<HashMap<usize, usize>>,
    /// Resources (streams of large objects): their number, which tells them from a later one at the same address, and
    /// their root.
    resources: RefCell<HashMap<usize, (i64, usize)>>,
    /// What ends a resource.
    end_resource: Cell<Option<EndResource>>,
    /// What stood in the tables of handlers that have been changed, by their addresses.
    originals: RefCell<HashMap<usize, Originals>>,
}

/// The entries that have been changed.
#[derive(Clone, Copy)]
struct Originals {
    free_object: Option<FreeObject>,
    get_method: Option<GetMethod>,
}

struct OnPhpThread(Table);
// SAFETY: used on the PHP thread only; boxes are handed to the engine as plain addresses.
unsafe impl Sync for OnPhpThread {}
// SAFETY: as above.
unsafe impl Send for OnPhpThread {}
static TABLE: std::sync::LazyLock<OnPhpThread> = std::sync::LazyLock::new(|| {
    let (roots, resources, end_resource, originals) = Default::default();
    OnPhpThread(Table { roots, resources, end_resource, originals })
});

fn table() -> &'static Table {
    &TABLE.0
}

/// The handle that stands for all on one connection.
pub(crate) fn root(key: usize) -> usize {
    table().roots.borrow().get(&key).copied().unwrap_or(key)
}

/// The same for a resource, if it was made from a handle.
pub(crate) unsafe fn root_of_resource(resource: *const sys::zend_resource) -> Option<usize> {
    let resources = table().resources.borrow();
    let (number, root) = *resources.get(&(resource as usize))?;
    // SAFETY: the caller passes a live resource.
    (unsafe { (*resource).handle } == number).then_some(root)
}

/// A call has returned a resource: it shares the connection of the handle that it was made from.
///
/// # Safety
/// `frame` is the frame of a call of an internal function, `resource` its result.
pub(crate) unsafe fn link_resource(frame: *mut sys::zend_execute_data, resource: *mut sys::zend_resource) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut root = None;
        classify::handles(frame, classify::Kind::Handle, |key, mode| {
            root = root.or((mode != Mode::Shared).then_some(key));
        });
        if let Some(root) = root {
            link_stream(resource, root);
        }
    }
}

fn set_root(object: usize, root: Option<usize>) {
    let before = match root {
        Some(root) => table().roots.borrow_mut().insert(object, root),
        None => table().roots.borrow_mut().remove(&object),
    };
    if let Some(root) = root {
        persistent::used(root);
    }
    if let Some(before) = before {
        persistent::unused(before);
    }
}

/// A stream shares what `root` stands for.
///
/// # Safety
/// `resource` is live.
pub(crate) unsafe fn link_stream(resource: *mut sys::zend_resource, root: usize) {
    // SAFETY: the caller's promise.
    table().resources.borrow_mut().insert(resource as usize, (unsafe { (*resource).handle }, root));
}

/// `object` and the first other handle of the call share a connection from now on. An address that is used again
/// loses what was known of it, since every handle is made by a constructor or returned by a call.
///
/// # Safety
/// `frame` is the frame of a call of an internal function, `object` its `$this` or its result.
pub(crate) unsafe fn link(frame: *mut sys::zend_execute_data, object: *mut sys::zend_object) {
    // SAFETY: the caller's promise.
    unsafe {
        if classify::module_of(object) != classify::module_of_function((*frame).func.cast()) {
            return;
        }
        let mut root = None;
        classify::handles(frame, classify::Kind::Handle, |key, mode| {
            if key != object as usize && root.is_none() && mode != Mode::Shared {
                root = Some(key);
            }
        });
        if root.is_some() && classify::makes_apart(classify::module_of(object)) {
            root = None;
        }
        if root != Some(self::root(object as usize)) {
            set_root(object as usize, root);
        }
        adopt(object, root.is_some());
    }
}

/// `object` is on the connection that `root` stands for.
///
/// # Safety
/// `object` is a live handle.
pub(crate) unsafe fn link_to(object: *mut sys::zend_object, root: usize) {
    set_root(object as usize, Some(root));
    // SAFETY: the caller's promise.
    unsafe { adopt(object, true) };
}

/// `object` is being made: what was known of an earlier one at its address is forgotten. (Those without handlers of their own
/// end unseen.)
pub(crate) fn is_new(object: *const sys::zend_object) {
    set_root(object as usize, None);
}

/// The request is over, and its objects are gone: the addresses will be other objects'.
pub fn forget_all() {
    table().roots.borrow_mut().clear();
    table().resources.borrow_mut().clear();
}

/// Changes the handlers of objects of its kind, if the end of one or its methods need it.
unsafe fn adopt(object: *mut sys::zend_object, shares: bool) {
    // SAFETY: a live object; its handlers are its extension's, and stay as long as that is loaded.
    unsafe {
        let table = (*object).handlers.cast_mut();
        if table.cast_const() == &raw const sys::std_object_handlers {
            return;
        }
        let own_methods = (*table).get_method.filter(|find| {
            *find as usize != sys::zend_std_get_method as *const () as usize
                && *find as usize != get_method as *const () as usize
        });
        let own_end = (*table).free_obj.filter(|free| shares && *free as usize != free_object as *const () as usize);
        if own_methods.is_none() && own_end.is_none() {
            return;
        }
        let mut originals = self::table().originals.borrow_mut();
        let entry = originals.entry(table as usize).or_insert(Originals { free_object: None, get_method: None });
        let store = |place: usize, value: usize| spindle_interpose::patch::store(place, value).is_ok();
        if let Some(find) = own_methods
            && store(&raw mut (*table).get_method as usize, get_method as *const () as usize)
        {
            entry.get_method = Some(find);
        }
        if let Some(free) = own_end
            && store(&raw mut (*table).free_obj as usize, free_object as *const () as usize)
        {
            entry.free_object = Some(free);
        }
    }
}

/// Puts the handlers back, at module shutdown.
pub fn remove() {
    for (address, original) in self::table().originals.borrow_mut().drain() {
        let table = address as *mut sys::zend_object_handlers;
        // SAFETY: a table of handlers of an extension that is still loaded, which `adopt` has changed. Where it cannot be
        // put back, this module stays loaded.
        unsafe {
            if let Some(find) = original.get_method {
                let _ = spindle_interpose::patch::store(&raw mut (*table).get_method as usize, find as usize);
            }
            if let Some(free) = original.free_object {
                let _ = spindle_interpose::patch::store(&raw mut (*table).free_obj as usize, free as usize);
            }
        }
    }
}

/// What stood in the table of an object's handlers.
fn originals(object: *const sys::zend_object) -> Option<Originals> {
    // SAFETY: a live object, or one that is being freed.
    table().originals.borrow().get(&unsafe { (*object).handlers as usize }).copied()
}

unsafe extern "C" fn free_object(object: *mut sys::zend_object) {
    // SAFETY: only objects whose handlers have been changed get here.
    unsafe {
        let Some(free) = originals(object).and_then(|original| original.free_object) else {
            return sys::zend_object_std_dtor(object);
        };
        let root = table().roots.borrow_mut().remove(&(object as usize));
        match root {
            None => free(object),
            Some(root) => {
                // Where its turn never comes it is left as it is: what it has on its connection stays until that ends.
                if handle_locks::in_turn(root, || persistent::within(root, || free(object))).is_none() {
                    sys::zend_object_std_dtor(object);
                }
                persistent::unused(root);
            }
        }
    }
}

type EndResource = unsafe extern "C" fn(*mut sys::zval);

/// Watches the end of resources, in the request that runs: it may talk to a server, as that of objects.
pub fn watch_resources() {
    // SAFETY: the engine's table of resources, made anew for each request.
    unsafe {
        let list = addr_of_mut!(sys::executor_globals.regular_list);
        if let Some(end) = (*list).pDestructor.filter(|end| *end as usize != end_resource as *const () as usize) {
            table().end_resource.set(Some(end));
            (*list).pDestructor = Some(end_resource);
        }
    }
}

unsafe extern "C" fn end_resource(value: *mut sys::zval) {
    let Some(end) = table().end_resource.get() else { return };
    // SAFETY: the engine's own argument: a resource that it has taken out of its table.
    unsafe {
        let resource = (*value).value.res;
        let is_open = (*resource).type_ >= 0;
        let root = root_of_resource(resource).filter(|_| is_open);
        table().resources.borrow_mut().remove(&(resource as usize));
        match root {
            None => end(value),
            // Where its turn never comes it is left as it is: what it has on its connection stays until that ends.
            Some(root) => drop(handle_locks::in_turn(root, || end(value))),
        }
    }
}

unsafe extern "C" fn get_method(
    object: *mut *mut sys::zend_object,
    name: *mut sys::zend_string,
    key: *const sys::zval,
) -> *mut sys::zend_function {
    // SAFETY: only objects whose handlers have been changed get here; what is found is a function.
    unsafe {
        let Some(find) = originals(*object).and_then(|original| original.get_method) else {
            return sys::zend_std_get_method(object, name, key);
        };
        let function = find(object, name, key);
        if !function.is_null() && u32::from((*function).type_) == sys::ZEND_INTERNAL_FUNCTION {
            trampolines::trampoline_found(function.cast());
        }
        function
    }
}
