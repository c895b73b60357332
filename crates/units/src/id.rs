//! Dense ids and the arrays they index. Each address word has one meaning and its own type.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A dense id: a small number that indexes an [`IdMap`].
pub trait Id: Copy {
    /// The id at `index`.
    fn from_index(index: usize) -> Self;
    /// The place of this id in its map.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($raw:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $raw);

        impl Id for $name {
            fn from_index(index: usize) -> Self {
                $name(<$raw>::try_from(index).expect(concat!(stringify!($name), " out of range")))
            }

            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// A logical page number: the address of one mapping unit, as one firmware core sees it.
    Lpn(u32);
    /// A die, counted over the whole drive (or over one core, where the text says so).
    DieId(u16);
    /// A channel bus.
    ChannelId(u16);
    /// A plane inside a die.
    PlaneId(u8);
    /// An erase block inside a plane of a die, by its physical number.
    BlockId(u32);
    /// A block group of a die: one block of each plane, written and erased together. Its number stays when spare blocks take the place of bad ones.
    GroupId(u32);
    /// A page inside a block, in program order.
    PageId(u16);
    /// A wordline inside a block.
    WordlineId(u16);
    /// A horizontal layer (h-layer) inside a block.
    LayerId(u16);
    /// A host request in flight.
    RequestId(u32);
    /// A job of the host: one of several streams of requests at the same time. 0 where there is one stream.
    JobId(u8);
    /// A flash operation of one firmware core, queued or under way.
    OpTag(u32);
    /// A part of a host request, as the firmware core that it falls to counts those under way.
    PartId(u32);
}

/// An array indexed by one kind of id, so that a die's number cannot index a block's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdMap<K, V> {
    items: Vec<V>,
    key: PhantomData<fn(K)>,
}

impl<K: Id, V> IdMap<K, V> {
    /// A map of `count` entries, each made by `make`.
    pub fn from_fn(count: usize, mut make: impl FnMut(K) -> V) -> Self {
        IdMap { items: (0..count).map(|index| make(K::from_index(index))).collect(), key: PhantomData }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The entries in order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (K, &V)> {
        self.items.iter().enumerate().map(|(index, value)| (K::from_index(index), value))
    }

    /// The entries in order of their ids, to be changed.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (K, &mut V)> {
        self.items.iter_mut().enumerate().map(|(index, value)| (K::from_index(index), value))
    }

    /// The entries as a slice, without their ids.
    pub fn as_slice(&self) -> &[V] {
        &self.items
    }
}

impl<K: Id, V> Index<K> for IdMap<K, V> {
    type Output = V;
    #[inline]
    fn index(&self, id: K) -> &V {
        &self.items[id.index()]
    }
}

impl<K: Id, V> IndexMut<K> for IdMap<K, V> {
    #[inline]
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.items[id.index()]
    }
}
