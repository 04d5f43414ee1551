//! The classes of pooled objects, and the pools of these.

use crate::arguments::fails;
use crate::pool::{POOL, Pool};
use crate::profiles::Profile;
use spindle_zend::{Class, Instance, Object, PhpStatic, Thrown};
use std::cell::RefCell;

/// The classes of a profile whose extension is loaded.
#[derive(Clone, Copy)]
pub struct Classes {
    pub profile: &'static Profile,
    pub connection: Class,
    pub pooled: Class,
}

pub static CLASSES: PhpStatic<RefCell<Vec<Classes>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// Returns the class of connections of a profile.
pub fn class_of(profile: &Profile) -> Result<Class, Thrown> {
    let found = CLASSES
        .borrow()
        .iter()
        .find(|classes| std::ptr::eq(classes.profile, profile))
        .map(|classes| classes.connection);
    found.ok_or_else(|| fails(&format!("This needs the extension {}, which is not loaded", profile.base)))
}

/// Returns the class of this module that the object is an instance of, if it is a pooled object.
pub fn pooled_class(this: &Object) -> Option<Class> {
    this.class().and_parents().find(|class| CLASSES.borrow().iter().any(|classes| classes.pooled == *class))
}

/// Returns the pool of a pooled object, if it was constructed.
pub fn pool_of(this: &Object) -> Option<&Instance<Pool>> {
    let class = pooled_class(this)?;
    let place = u32::try_from(class.raw().default_properties_count).ok()?.checked_sub(1)?;
    this.property(place)?.as_object().and_then(|pool| POOL.of(pool))
}

#[cold]
pub fn makes_no_asynchronous_queries() -> Thrown {
    fails("A pooled object makes no asynchronous queries: make them in coroutines")
}
