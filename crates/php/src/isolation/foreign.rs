//! Functions of libraries that may be loaded, looked up by name.

/// Defines a structure of functions, with `find`, which returns it if all of them are loaded.
macro_rules! foreign {
    ($(#[$doc:meta])* struct $name:ident { $($function:ident = $symbol:literal: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        struct $name {
            $($function: $type,)*
        }

        impl $name {
            fn find() -> Option<$name> {
                $(
                    // SAFETY: a terminated name.
                    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, $symbol.as_ptr()) };
                    if found.is_null() {
                        return None;
                    }
                    // SAFETY: the type is the one that the library documents for this name; without `unsafe`, the
                    // function may be called with whatever its type allows.
                    let $function = unsafe { std::mem::transmute::<*mut libc::c_void, $type>(found) };
                )*
                Some($name { $($function,)* })
            }
        }
    };
}
pub(crate) use foreign;
