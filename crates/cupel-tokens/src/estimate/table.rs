//! What each group of pieces costs with each family of tokenizers.
//!
//! Fitted on texts in some seventy languages, on code and on data, none of which are in the
//! repository; the example `calibrate` checks the result on texts of your own. Where a family has no
//! text to go by, a bound is generous.

use super::group::Group;
use crate::Encoding;

/// Thousandths of a token for each that a piece counts with `encoding`, in the order of the groups.
#[derive(Debug)]
pub(super) struct Table {
    /// What is counted with.
    pub(super) encoding: Encoding,
    /// The average.
    pub(super) factors: [u16; Group::COUNT],
    /// What it is at most, in 95 of 100 texts.
    pub(super) bounds: [u16; Group::COUNT],
}

/// Not published: taken to be like `o200k_base`, and at most a tenth more.
pub(super) static OPENAI: Table = Table {
    encoding: Encoding::O200kBase,
    factors: {
        let mut factors = [1_000; Group::COUNT];
        factors[Group::Digit as usize] = 0;
        factors
    },
    bounds: {
        let mut bounds = [1_100; Group::COUNT];
        bounds[Group::Digit as usize] = 0;
        bounds
    },
};

pub(super) static CLAUDE: Table = Table {
    encoding: Encoding::Cl100kBase,
    factors: [
        1_127, 833, 0, 1_135, 777, 1_123, 1_652, 1_261, 1_129, 989, 1_006, 898, 1_319, 1_136,
        1_389, 1_620, 1_367, 1_220, 872, 1_837, 1_406, 475, 645, 1_002, 1_802, 1_159, 1_084, 941,
        1_020, 1_092,
    ],
    bounds: [
        1_280, 945, 0, 1_360, 883, 1_600, 2_000, 1_312, 1_360, 1_050, 1_026, 916, 1_456, 1_205,
        1_503, 1_653, 1_394, 1_374, 908, 1_911, 1_463, 485, 658, 1_022, 1_874, 1_206, 1_128, 979,
        1_390, 1_611,
    ],
};

pub(super) static GEMMA: Table = Table {
    encoding: Encoding::O200kBase,
    factors: [
        1_049, 78, 845, 1_105, 1_667, 999, 689, 1_028, 950, 1_310, 1_817, 1_221, 997, 831, 797,
        1_038, 732, 921, 815, 777, 287, 775, 1_390, 404, 748, 935, 483, 780, 964, 1_272,
    ],
    bounds: [
        1_132, 87, 1_050, 1_420, 2_150, 1_380, 788, 1_048, 988, 2_519, 2_046, 1_271, 1_101, 973,
        1_116, 1_102, 762, 1_017, 832, 809, 357, 791, 1_535, 412, 810, 954, 513, 879, 1_247, 1_784,
    ],
};

pub(super) static LLAMA: Table = Table {
    encoding: Encoding::Cl100kBase,
    factors: [
        1_013, 999, 0, 966, 1_014, 829, 368, 399, 692, 723, 864, 1_001, 521, 526, 992, 997, 1_000,
        997, 994, 459, 924, 1_000, 1_000, 1_000, 1_000, 606, 674, 652, 1_015, 908,
    ],
    bounds: [
        1_033, 1_019, 0, 985, 1_034, 1_120, 391, 424, 795, 1_033, 899, 1_021, 716, 558, 1_012,
        1_017, 1_020, 1_017, 1_014, 487, 943, 1_020, 1_020, 1_020, 1_020, 682, 701, 780, 1_242,
        1_204,
    ],
};

pub(super) static QWEN: Table = Table {
    encoding: Encoding::Cl100kBase,
    factors: [
        1_004, 294, 844, 986, 1_012, 969, 261, 971, 784, 836, 533, 382, 625, 932, 860, 909, 792,
        812, 788, 555, 592, 773, 530, 374, 743, 657, 729, 540, 1_004, 243,
    ],
    bounds: [
        1_048, 307, 881, 1_029, 1_056, 1_100, 340, 990, 849, 960, 544, 406, 841, 950, 895, 965,
        808, 862, 804, 589, 629, 789, 541, 389, 758, 770, 789, 699, 1_258, 330,
    ],
};

pub(super) static DEEPSEEK: Table = Table {
    encoding: Encoding::Cl100kBase,
    factors: [
        955, 1_006, 0, 1_199, 1_054, 891, 809, 495, 674, 694, 267, 450, 513, 566, 373, 513, 384,
        429, 512, 358, 835, 453, 378, 764, 732, 665, 809, 499, 946, 891,
    ],
    bounds: [
        974, 1_370, 0, 1_630, 1_430, 1_050, 826, 505, 744, 846, 289, 487, 578, 613, 429, 556, 400,
        502, 543, 411, 922, 491, 385, 779, 762, 706, 893, 597, 1_158, 1_181,
    ],
};

pub(super) static MISTRAL: Table = Table {
    encoding: Encoding::O200kBase,
    factors: [
        1_093, 288, 833, 934, 1_038, 1_048, 1_048, 1_057, 993, 1_321, 1_170, 1_124, 988, 1_261,
        1_366, 1_322, 1_155, 1_232, 4_820, 1_203, 1_591, 1_031, 1_571, 1_481, 4_629, 922, 855,
        1_088, 984, 1_210,
    ],
    bounds: [
        1_265, 333, 964, 1_080, 1_201, 1_370, 1_213, 1_100, 1_210, 2_299, 1_242, 1_146, 1_135,
        1_449, 1_913, 1_887, 1_178, 1_502, 5_115, 1_252, 1_623, 1_094, 1_734, 1_511, 5_010, 941,
        908, 1_380, 1_367, 1_819,
    ],
};

pub(super) static UNKNOWN: Table = Table {
    encoding: Encoding::O200kBase,
    factors: [
        1_134, 623, 365, 854, 1_092, 1_204, 962, 1_530, 1_173, 1_696, 3_234, 1_549, 1_370, 1_844,
        2_055, 2_323, 2_319, 2_558, 2_523, 1_222, 973, 2_123, 3_480, 1_077, 2_222, 1_125, 922, 984,
        993, 1_453,
    ],
    bounds: [
        1_364, 1_000, 590, 1_370, 1_750, 1_620, 1_920, 3_001, 2_042, 3_821, 8_533, 2_806, 3_086,
        3_913, 4_109, 5_553, 4_637, 5_648, 5_146, 2_593, 1_661, 4_163, 8_317, 1_479, 5_003, 1_845,
        1_193, 1_783, 1_433, 2_271,
    ],
};
