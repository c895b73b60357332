//! The list of an exclusive slot's policies.

/// Declares the policies of a slot: for each its variant of the enum, its word in plans and its module, from one line.
///
/// The module of the slot defines a trait `Policy`; each policy's module holds a type of the variant's name that implements it. The macro makes the enum, all
/// its variants as `ALL`, the word of a variant as `name`, and an `impl Policy` that hands each question of the list `asks` to the variant's type. A match is
/// used rather than a table of functions, because a die is asked for every operation and the answers are a few instructions long.
macro_rules! slot {
    ($(#[$doc:meta])* pub enum $slot:ident $policies:tt asks $asks:tt) => {
        $crate::util::slot!(@list [$(#[$doc])*] $slot $policies);
        $crate::util::slot!(@asks $slot $policies $asks);
    };
    (@list [$(#[$doc:meta])*] $slot:ident { $($(#[$of:meta])* $name:ident = $word:literal in $module:ident;)* }) => {
        $(mod $module;)*

        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $slot {
            $($(#[$of])* $name,)*
        }

        impl $slot {
            /// All policies, in the order of their declaration.
            pub const ALL: &[$slot] = &[$($slot::$name),*];

            /// Word that a plan uses for the policy.
            pub const fn name(self) -> &'static str {
                match self { $($slot::$name => $word,)* }
            }
        }
    };
    (@asks $slot:ident $policies:tt { $(fn $ask:ident(&self $(, $about:ident: $kind:ty)*) -> $answer:ty;)* }) => {
        impl Policy for $slot {
            $($crate::util::slot!(@ask $slot $policies fn $ask[$($about: $kind),*] ($($about),*) -> $answer);)*
        }
    };
    (@ask $slot:ident { $($(#[$of:meta])* $name:ident = $word:literal in $module:ident;)* }
        fn $ask:ident[$($about:ident: $kind:ty),*] $given:tt -> $answer:ty) => {
        #[inline]
        fn $ask(&self, $($about: $kind),*) -> $answer {
            match self { $($slot::$name => $module::$name.$ask $given,)* }
        }
    };
}

pub(crate) use slot;
