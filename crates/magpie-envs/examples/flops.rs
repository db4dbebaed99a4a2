//! Counts the floating-point operations of one environment step, by running the simulator's code on numbers that count:
//! `cargo run --release -p magpie-envs --example flops`.
//!
//! A fused multiply-add counts as two operations and any other computation as one; comparisons, selections, minima and
//! signs do not count. Each world is counted separately, so that work that lanes do only for a neighbour is left out.

use std::cell::Cell;
use std::ops::{Add, Div, Mul, Neg, Sub};

use magpie_envs::{Stage, TASKS, Task};
use magpie_physics::robot::Robot;
use magpie_physics::{Perturbation, World, refresh, set_pose, step};
use magpie_random::Stream;
use magpie_simd::Number;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count(operations: u64) {
    COUNT.with(|c| c.set(c.get() + operations));
}

/// A number that counts operations.
#[derive(Clone, Copy)]
struct Counted(f64);

macro_rules! operator {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for Counted {
            type Output = Counted;
            fn $method(self, other: Counted) -> Counted {
                count(1);
                Counted(self.0 $op other.0)
            }
        }
    };
}
operator!(Add, add, +);
operator!(Sub, sub, -);
operator!(Mul, mul, *);
operator!(Div, div, /);

impl Neg for Counted {
    type Output = Counted;
    fn neg(self) -> Counted {
        Counted(-self.0)
    }
}

impl Number for Counted {
    type Token = ();
    type Scalar = f64;
    type Mask = bool;
    type Pack = f64;

    fn splat((): (), value: f64) -> Counted {
        Counted(value)
    }
    fn load((): (), pack: &f64) -> Counted {
        Counted(*pack)
    }
    fn store(self, pack: &mut f64) {
        *pack = self.0;
    }
    fn mask((): (), bits: u32) -> bool {
        bits & 1 == 1
    }
    fn token(self) {}
    fn mul_add(self, factor: Counted, term: Counted) -> Counted {
        count(2);
        Counted(self.0 * factor.0 + term.0)
    }
    fn sqrt(self) -> Counted {
        count(1);
        Counted(self.0.sqrt())
    }
    fn abs(self) -> Counted {
        Counted(self.0.abs())
    }
    fn min(self, other: Counted) -> Counted {
        Counted(self.0.min(other.0))
    }
    fn max(self, other: Counted) -> Counted {
        Counted(self.0.max(other.0))
    }
    fn round(self) -> Counted {
        Counted(self.0.round_ties_even())
    }
    fn lt(self, other: Counted) -> bool {
        self.0 < other.0
    }
    fn gt(self, other: Counted) -> bool {
        self.0 > other.0
    }
    fn le(self, other: Counted) -> bool {
        self.0 <= other.0
    }
    fn select(mask: bool, if_true: Counted, if_false: Counted) -> Counted {
        if mask { if_true } else { if_false }
    }
    /// As in SIMD lanes: a quotient, two products, eight fused steps and two differences.
    fn atan2(self, x: Counted) -> Counted {
        count(21);
        Counted(self.0.atan2(x.0))
    }
    fn acos(self) -> Counted {
        count(25);
        Counted(self.0.acos())
    }
    fn asin(self) -> Counted {
        count(25);
        Counted(self.0.asin())
    }
    fn sin_cos(self) -> (Counted, Counted) {
        count(28);
        let (sin, cos) = self.0.sin_cos();
        (Counted(sin), Counted(cos))
    }
}

/// Mean over a random walk of some worlds, which are reset when they fall.
fn flops_per_step(task: &str) -> f64 {
    const WORLDS: u32 = 20;
    const STEPS: u64 = 300;
    let definition = Task::named(task).expect("a built-in task");
    let robot = Robot::builtin(task).expect("a built-in robot");
    let stage: Stage<f64> = Stage::new(&definition, &robot, &Perturbation::default());
    let stream = Stream::new(0, "flops");
    let rest = stage.model.rest_angles();
    let mut total = 0;
    for who in 0..WORLDS {
        let mut world: World<f64> = World::new(&stage.model);
        let mut obs = vec![0.0; stage.observation_size()];
        let mut fallen = true;
        for when in 0..STEPS {
            let mut draws = stream.draws(who, when);
            if fallen {
                let angles: Vec<f64> =
                    rest.iter().map(|a| a + f64::from(draws.uniform(-0.01, 0.01))).collect();
                set_pose::<f64>((), &stage.model, &angles, &vec![0.0; rest.len()], &mut world.bodies);
                refresh::<f64>((), &stage.model, &mut world);
            }
            let action: Vec<f64> =
                (0..stage.action_size()).map(|_| draws.uniform(-1.0, 1.0).into()).collect();
            COUNT.with(|c| c.set(0));
            let before = stage.forward_position::<Counted>((), &world);
            step::<Counted>((), &stage.model, &mut world, &action);
            stage.reward::<Counted>((), &world, &action, before);
            stage.observe::<Counted>((), &world, &action, &mut obs);
            fallen = stage.fallen::<Counted>((), &world);
            total += COUNT.with(Cell::get);
        }
    }
    total as f64 / f64::from(WORLDS) / STEPS as f64
}

fn main() {
    println!("{:<14}{:>16}", "task", "flops per step");
    for task in TASKS {
        println!("{:<14}{:>16.0}", task, flops_per_step(task));
    }
}
