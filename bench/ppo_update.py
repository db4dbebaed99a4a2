"""The PyTorch peer of `crates/magpie-nn/examples/ppo_update.rs`: the same minibatch step, float32, on the CPU.

A step gathers a shuffled minibatch from tables, sends it through actor and critic, computes the clipped losses, goes
backwards, limits both gradients and steps Adam (fused, PyTorch's fastest). Prints one line a case:

    torch MODE THREADS OBS ACT ROWS ROWS_PER_SECOND

with the best step on the clock. Usage: ppo_update.py THREADS OBS ACT ROWS SECONDS [eager|compile]...
"""

import math
import sys
import time

import torch
from torch import nn


def net(sizes, last_gain):
    layers = []
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        linear = nn.Linear(a, b)
        nn.init.orthogonal_(linear.weight, last_gain if i == len(sizes) - 2 else math.sqrt(2))
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


class Agent(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.actor = net([obs, 128, 128, act], 0.01)
        self.log_std = nn.Parameter(torch.zeros(act))
        self.critic = net([obs, 256, 256, 1], 1.0)

    def loss(self, obs, actions, old_log_probs, advantages, returns, old_values):
        z = (actions - self.actor(obs)) * torch.exp(-self.log_std)
        log_probs = (-0.5 * z * z - self.log_std - 0.5 * math.log(2 * math.pi)).sum(1)
        log_ratio = log_probs - old_log_probs
        ratio = log_ratio.exp()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        policy = torch.max(-advantages * ratio, -advantages * ratio.clamp(0.8, 1.2)).mean()
        values = self.critic(obs).squeeze(1)
        limited = old_values + (values - old_values).clamp(-0.2, 0.2)
        value = torch.max((values - returns) ** 2, (limited - returns) ** 2).mean()
        with torch.no_grad():
            kl = (ratio - 1 - log_ratio).mean()
            clipped = ((ratio - 1).abs() > 0.2).float().mean()
        return policy + 2 * value, kl, clipped


def run(mode, threads, obs, act, rows, seconds):
    torch.manual_seed(1)
    agent = Agent(obs, act)
    policy = [*agent.actor.parameters(), agent.log_std]
    critic = list(agent.critic.parameters())
    optimiser = torch.optim.Adam([*policy, *critic], lr=1e-3, eps=1e-5, fused=True)
    actions = torch.randn(rows, act)
    log_probs = (-0.5 * actions**2 - 0.5 * math.log(2 * math.pi)).sum(1)
    tables = [torch.randn(rows, obs), actions, log_probs, *torch.randn(3, rows)]
    order = torch.randperm(rows)
    loss = torch.compile(agent.loss) if mode == "compile" else agent.loss

    def step():
        total, kl, clipped = loss(*(table[order] for table in tables))
        optimiser.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(policy, 1.0)
        nn.utils.clip_grad_norm_(critic, 1.0)
        optimiser.step()
        return kl.item(), clipped.item()

    for _ in range(3):
        step()
    best, start = math.inf, time.perf_counter()
    while time.perf_counter() - start < seconds:
        before = time.perf_counter()
        step()
        best = min(best, time.perf_counter() - before)
    print("torch", mode, threads, obs, act, rows, round(rows / best), flush=True)


if __name__ == "__main__":
    threads, obs, act, rows = map(int, sys.argv[1:5])
    torch.set_num_threads(threads)
    for mode in sys.argv[6:] or ["eager", "compile"]:
        run(mode, threads, obs, act, rows, float(sys.argv[5]))
