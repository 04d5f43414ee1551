//! Which handles share a connection: those that were made from one another (a `PDO` and its statements), and those of
//! one persistent connection. They count as one, by the handle or the number that stands for all: their *root*.
//!
//! What makes handles is trampolined from the first request on, not only from the first `spawn`: a statement that was
//! prepared before it is known to belong to its connection. Such objects have handlers of ours, for two reasons: the
//! end of one may talk to its server, and some find methods in a table of their own (`PDO::pgsqlGetNotify`).

use crate::{busy, calls, kinds, persistent};
use spindle_php_sys as sys;
use std::cell::RefCell;
use std::collections::HashMap;

struct Table {
    roots: RefCell<HashMap<usize, usize>>,
    /// Resources (streams of large objects): their number, which tells them from a later one at the same address, and
    /// their root.
    resources: RefCell<HashMap<usize, (i64, usize)>>,
    /// By the address of the class's own handlers. Never removed from: objects point into it.
    ours: RefCell<HashMap<usize, Box<Ours>>>,
}

/// The class's own handlers, but for the end and the look-up of methods.
#[repr(C)]
struct Ours {
    handlers: sys::zend_object_handlers,
    original: *const sys::zend_object_handlers,
}

struct OnPhpThread(Table);
// SAFETY: used on the PHP thread only; boxes are handed to the engine as plain addresses.
unsafe impl Sync for OnPhpThread {}
// SAFETY: as above.
unsafe impl Send for OnPhpThread {}
static TABLE: std::sync::LazyLock<OnPhpThread> = std::sync::LazyLock::new(|| {
    let (roots, resources, ours) = Default::default();
    OnPhpThread(Table { roots, resources, ours })
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
        kinds::handles(frame, kinds::Kind::Handle, |key, _| root = root.or(Some(key)));
        if let Some(root) = root {
            table().resources.borrow_mut().insert(resource as usize, ((*resource).handle, root));
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

/// `object` and the first other handle of the call share a connection from now on. An address that is used again
/// loses what was known of it, since every handle is made by a constructor or returned by a call.
///
/// # Safety
/// `frame` is the frame of a call of an internal function, `object` its `$this` or its result.
pub(crate) unsafe fn link(frame: *mut sys::zend_execute_data, object: *mut sys::zend_object) {
    // SAFETY: the caller's promise.
    unsafe {
        if kinds::module_of(object) != kinds::module_of_function((*frame).func.cast()) {
            return;
        }
        let mut root = None;
        kinds::handles(frame, kinds::Kind::Handle, |key, _| {
            if key != object as usize && root.is_none() {
                root = Some(key);
            }
        });
        if root.is_some() && kinds::makes_apart(kinds::module_of(object)) {
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

/// The request is over, and its objects are gone: the addresses will be other objects'.
pub fn forget_all() {
    table().roots.borrow_mut().clear();
    table().resources.borrow_mut().clear();
}

/// Gives it handlers of ours, if its end or its methods need them.
unsafe fn adopt(object: *mut sys::zend_object, shares: bool) {
    // SAFETY: a live object, whose handlers are copied: the class's other objects keep theirs.
    unsafe {
        let original = (*object).handlers;
        let is_ours = (*original).free_obj.is_some_and(|free| free as usize == free_object as *const () as usize);
        let own_methods =
            (*original).get_method.is_some_and(|find| find as usize != sys::zend_std_get_method as *const () as usize);
        if is_ours || !shares && !own_methods {
            return;
        }
        let mut tables = table().ours.borrow_mut();
        let ours = tables.entry(original as usize).or_insert_with(|| {
            let mut handlers = *original;
            handlers.free_obj = Some(free_object);
            if own_methods {
                handlers.get_method = Some(get_method);
            }
            Box::new(Ours { handlers, original })
        });
        (*object).handlers = &raw const ours.handlers;
    }
}

unsafe extern "C" fn free_object(object: *mut sys::zend_object) {
    // SAFETY: only objects with `Ours` for their handlers get here.
    unsafe {
        let ours: *const Ours = (*object).handlers.cast();
        let Some(free) = (*(*ours).original).free_obj else { return };
        let root = table().roots.borrow_mut().remove(&(object as usize));
        match root {
            None => free(object),
            Some(root) => {
                busy::in_turn(root, || persistent::within(root, || free(object)));
                persistent::unused(root);
            }
        }
    }
}

unsafe extern "C" fn get_method(
    object: *mut *mut sys::zend_object,
    name: *mut sys::zend_string,
    key: *const sys::zval,
) -> *mut sys::zend_function {
    // SAFETY: only objects with `Ours` for their handlers get here; what is found is a function.
    unsafe {
        let ours: *const Ours = (**object).handlers.cast();
        let Some(find) = (*(*ours).original).get_method else { return std::ptr::null_mut() };
        let function = find(object, name, key);
        if !function.is_null() && u32::from((*function).type_) == sys::ZEND_INTERNAL_FUNCTION {
            calls::trampoline_found(function.cast());
        }
        function
    }
}
