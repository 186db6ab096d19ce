import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'

interface Costs {
  readonly promises: { readonly get: number; readonly post: number; readonly postToDisk: number }
  readonly concurrent: { posts: number; transactions: number; withAppends: number; commits: number }
  readonly left: readonly string[]
}

/* Counted, not timed: what a warm call costs over real sockets, from the built package. */

let costs: Costs

beforeAll(async () => {
  const probe = fileURLToPath(new URL('cost-probe.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [probe])
  costs = JSON.parse(stdout) as Costs
})

describe('a warm call', () => {
  it('makes at most 20 promises where nothing is journaled', () => {
    expect(costs.promises.get).toBeLessThanOrEqual(20)
  })

  it('makes at most 46 promises if it is journaled, and waits for its settlement: this server shows no sign of keys', () => {
    expect(costs.promises.post).toBeLessThanOrEqual(46)
    expect(costs.promises.postToDisk).toBeLessThanOrEqual(46)
  })
})

describe('posts at once', () => {
  it('share few transactions and few waits for the disk', () => {
    const { posts, transactions, withAppends, commits } = costs.concurrent
    expect(withAppends).toBeLessThanOrEqual(2)
    // How many settlements share one depends on how slowly the answers come; alone, each post would take two.
    expect(transactions).toBeLessThan(2 * posts)
    expect(commits).toBeLessThanOrEqual(transactions)
  })
})

describe('a client that is closed', () => {
  it('leaves neither a timer, a handle nor a thread behind', () => {
    expect(costs.left).toEqual([])
  })
})
