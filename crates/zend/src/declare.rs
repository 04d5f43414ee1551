//! Declarations of C functions that are compared with the headers of the present PHP.
//!
//! The types express what C expects: `&Object`, `&Str`, `&Array` and `&Value` are pointers to live structures, `Owned` is a pointer
//! with a reference that is passed on, and an `Option` of these is null for `None`. A function is declared `safe` if it is sound for
//! all arguments that these types allow, on the PHP thread; the comment before a group of functions says why. All others are called
//! through `sys`.
//!
//! A function may be safe and yet run PHP code, throw or bail out (see the crate's documentation). It must not write to a `&Value`
//! argument: arguments that are written to are `&mut`, or structures of the engine, which are cells.

/// The sizes of a function's parameters and result.
#[doc(hidden)]
pub trait Shape {
    /// The sizes, the result first.
    const SIZES: &'static [usize];
}

macro_rules! shapes {
    ($(($($parameter:ident)*))*) => {$(
        impl<R, $($parameter),*> Shape for unsafe extern "C" fn($($parameter),*) -> R {
            const SIZES: &'static [usize] = &[size_of::<R>(), $(size_of::<$parameter>()),*];
        }
    )*};
}

shapes! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) }

/// Fails the build if two functions have different shapes.
#[doc(hidden)]
pub const fn must_agree<F: Shape + Copy, G: Shape + Copy>(_: F, _: G) {
    let (ours, theirs) = (F::SIZES, G::SIZES);
    let mut at = 0;
    while at < ours.len() {
        assert!(ours[at] == theirs[at], "the headers declare this function with other types");
        at += 1;
    }
}

/// Declares C functions, as an `extern` block does, with Rust types in place of pointers. The build fails if the
/// headers declare one with another number of parameters, or with types of other sizes.
#[macro_export]
macro_rules! declare {
    (
        $(
            $(#[$attribute:meta])*
            $visibility:vis $safety:ident fn $name:ident $(<$lifetime:lifetime>)? ($($parameter:ident: $type:ty),* $(,)?)
            $(-> $result:ty)?;
        )*
    ) => {
        // SAFETY: as the comments of the invocation say. The shapes are compared below.
        unsafe extern "C" {
            $(
                $(#[$attribute])*
                $visibility $safety fn $name $(<$lifetime>)? ($($parameter: $type),*) $(-> $result)?;
            )*
        }

        $(
            const _: () = $crate::declare::must_agree(
                $name as unsafe extern "C" fn($($crate::declare!(@any $parameter)),*) -> _,
                $crate::sys::$name as unsafe extern "C" fn($($crate::declare!(@any $parameter)),*) -> _,
            );
        )*
    };
    (@any $parameter:ident) => { _ };
}
