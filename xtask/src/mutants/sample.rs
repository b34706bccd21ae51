//! Drawing a sample by a seed.

use std::collections::BTreeSet;

/// Draws `count` of the numbers below `total`, or all where there are no more. The same seed draws the same, and more of them
/// are the same ones and others.
pub(super) fn draw(seed: u64, total: usize, count: usize) -> BTreeSet<usize> {
    let mut random = SplitMix64(seed);
    let mut deck: Vec<usize> = (0..total).collect();
    let count = count.min(total);
    for drawn in 0..count {
        let other = drawn + random.below(total - drawn);
        deck.swap(drawn, other);
    }
    deck.into_iter().take(count).collect()
}

/// Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators (2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is small enough that none is likelier than another by anything one could notice.
    fn below(&mut self, limit: usize) -> usize {
        let scaled = u128::from(self.next()) * limit as u128;
        usize::try_from(scaled >> 64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the reference implementation (prng.di.unimi.it/splitmix64.c).
    #[test]
    fn the_generator_is_the_one_that_it_says_it_is() {
        let mut random = SplitMix64(1_234_567);
        let drawn = [random.next(), random.next(), random.next()];
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(drawn, expected);
    }

    #[test]
    fn the_same_seed_draws_the_same_and_another_one_others() {
        assert_eq!(draw(7, 3_000, 5), draw(7, 3_000, 5));
        assert_ne!(draw(7, 3_000, 5), draw(8, 3_000, 5));
        // What was drawn in the past can be drawn again.
        let drawn: Vec<usize> = draw(7, 3_000, 5).into_iter().collect();
        assert_eq!(drawn, [51, 1_169, 1_359, 1_750, 2_702]);
    }

    #[test]
    fn a_larger_sample_holds_the_smaller_one_and_no_sample_more_than_there_is() {
        assert!(draw(7, 3_000, 50).is_superset(&draw(7, 3_000, 49)));
        assert_eq!(draw(7, 3_000, 50).len(), 50);
        assert_eq!(draw(7, 4, 50), BTreeSet::from([0, 1, 2, 3]));
        assert_eq!(draw(7, 0, 50), BTreeSet::new());
    }

    #[test]
    fn each_is_drawn_as_often_as_any_other() {
        let mut counts = [0_u32; 10];
        for seed in 0..10_000 {
            draw(seed, 10, 3).into_iter().for_each(|at| counts[at] += 1);
        }
        let expected = 2_800..3_200;
        assert!(
            counts.iter().all(|count| expected.contains(count)),
            "{counts:?}"
        );
    }
}
