import { type Answering, runFleet } from '../fleet.ts'
import { holdfastPolicy } from '../policies/holdfast.ts'
import type { Operation, Policy } from '../policies/policy.ts'
import type { History, PastOperation } from './history.ts'
import { serverOf } from './server-of.ts'
import type { Trial } from './trials.ts'

/** The trial in the model, on virtual time. */
export function modelHistory(trial: Trial, seed: number): History {
  const operations: PastOperation[] = []
  const requestsAt: number[] = []
  const server = noting(serverOf(trial, seed), requestsAt)
  const policy = observed(holdfastPolicy('Holdfast', { onGiveUp: trial.onGiveUp }), operations)
  runFleet({ scenario: trial.scenario, policy, seed, server })
  return { operations, requestsAt }
}

function noting(server: Answering, requestsAt: number[]): Answering {
  return {
    arrive: (now) => {
      requestsAt.push(now)
      return server.arrive(now)
    },
  }
}

/** The fleet's log counts by second; here each operation is followed. The model's own object is what is noted. */
function observed(policy: Policy, operations: PastOperation[]): Policy {
  return {
    name: policy.name,
    newClient: (world) => {
      const client = policy.newClient({
        get now() {
          return world.now
        },
        random: world.random,
        after: (ms, run) => world.after(ms, run),
        send: (operation, ended) => world.send(operation, ended),
        settle: (operation, as) => {
          note(operation, as, world.now)
          world.settle(operation, as)
        },
        finish: (operation) => {
          ;(operation as PastOperation).doneAt = world.now
          world.finish(operation)
        },
      })
      return {
        submit: (operation) => {
          operations.push(operation)
          client.submit(operation)
        },
      }
    },
  }
}

function note(operation: Operation & PastOperation, as: 'succeeded' | 'failed' | 'kept', now: number): void {
  if (as === 'kept') operation.attemptsOfCall = operation.attempts
  if (as !== 'succeeded') return
  operation.answered = true
  operation.doneAt = now
}
