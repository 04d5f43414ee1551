//! Groups of handles that share a connection: handles created from one another (a `PDO` and its statements), and those
//! of one persistent connection. A group is identified by its *group id*: the key of its first handle, or a number.

use crate::handles::persistent;
use spindle_zend::{Object, PhpStatic, Resource};
use std::cell::RefCell;
use std::collections::BTreeMap;

struct Groups {
    /// The groups of objects, by their addresses.
    objects: RefCell<BTreeMap<usize, usize>>,
    /// The groups of resources (streams of large objects), by their addresses, with the resource's number, which
    /// distinguishes it from a later one at the same address.
    resources: RefCell<BTreeMap<usize, (i64, usize)>>,
}

static GROUPS: PhpStatic<Groups> =
    PhpStatic::new(Groups { objects: RefCell::new(BTreeMap::new()), resources: RefCell::new(BTreeMap::new()) });

/// Returns the group of a handle: its own key if it shares no connection.
pub(crate) fn group_id(key: usize) -> usize {
    GROUPS.objects.borrow().get(&key).copied().unwrap_or(key)
}

/// Returns `true` if other objects share the connection of the handle with this key.
pub(crate) fn has_others(key: usize) -> bool {
    GROUPS.objects.borrow().iter().any(|(object, group)| *group == key && *object != key)
}

/// Returns `true` if any resource may have a group.
#[inline(always)]
pub(crate) fn has_resources() -> bool {
    !GROUPS.resources.borrow().is_empty()
}

/// Returns the group of a resource, if it was created from a handle.
pub(crate) fn group_of_resource(resource: &Resource) -> Option<usize> {
    let resources = GROUPS.resources.borrow();
    let (number, group) = *resources.get(&resource.address())?;
    (resource.number() == number).then_some(group)
}

/// Sets the group of an object. It has none if it shares no connection.
pub(crate) fn set(object: &Object, group: Option<usize>) {
    let before = match group {
        Some(group) => GROUPS.objects.borrow_mut().insert(object.address(), group),
        None => GROUPS.objects.borrow_mut().remove(&object.address()),
    };
    if let Some(group) = group {
        persistent::add_user(group);
    }
    if let Some(before) = before {
        persistent::remove_user(before);
    }
}

/// Puts a stream into a group.
pub(crate) fn link_stream(resource: &Resource, group: usize) {
    GROUPS.resources.borrow_mut().insert(resource.address(), (resource.number(), group));
}

/// Removes a resource from its group.
pub(crate) fn unlink_stream(resource: &Resource) {
    GROUPS.resources.borrow_mut().remove(&resource.address());
}

/// Removes an object from its group, and returns the group. The group keeps its user.
pub(crate) fn take(object: &Object) -> Option<usize> {
    GROUPS.objects.borrow_mut().remove(&object.address())
}

/// Makes all of one group members of another one.
pub(crate) fn merge(from: usize, into: usize) {
    let mut objects = GROUPS.objects.borrow_mut();
    objects.values_mut().filter(|group| **group == from).for_each(|group| *group = into);
    objects.insert(from, into); // what the group was named after
}

/// Returns the groups of all objects.
pub(crate) fn of_objects() -> Vec<usize> {
    GROUPS.objects.borrow().values().copied().collect()
}

/// Forgets all groups.
pub(crate) fn forget_all() {
    GROUPS.objects.borrow_mut().clear();
    GROUPS.resources.borrow_mut().clear();
}
