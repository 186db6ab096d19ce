import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { leaseOnly } from '../../../../src/client/coordination/lease-only.ts'
import { processLiveness } from '../../../../src/client/coordination/process-liveness.ts'
import { type HostFacts, hostOf } from '../../../../src/foundation/process-owner.ts'

/** The same owner, with parts of its name changed. */
function renamed(owner: string, change: (parts: string[]) => void): string {
  const parts = owner.split('|')
  change(parts)
  return parts.join('|')
}

describe('a runner in a process', () => {
  it('has a name of its own', () => {
    const [one, two] = [processLiveness(), processLiveness()]
    expect(one.owner).not.toBe(two.owner)
    one.leave()
    two.leave()
  })

  it('is alive until it leaves, and its peers know', () => {
    const [one, two] = [processLiveness(), processLiveness()]
    expect(two.findDead([one.owner])).toEqual([])
    one.leave()
    expect(two.findDead([one.owner])).toHaveLength(1)
    two.leave()
  })

  it('is dead where its process has ended', () => {
    const runner = processLiveness()
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    expect(runner.findDead([renamed(runner.owner, (parts) => parts.splice(1, 1, String(pid)))])).toHaveLength(1)
    runner.leave()
  })

  it('is dead where its process id is ours and we have never seen it: a container was started anew', () => {
    const runner = processLiveness()
    expect(runner.findDead([renamed(runner.owner, (parts) => parts.splice(3, 1, 'somebody-else'))])).toHaveLength(1)
    runner.leave()
  })

  it('counts as alive wherever there is doubt: another host, another process, another thread, a name that is none', () => {
    const runner = processLiveness()
    const { owner } = runner
    const doubtful = [
      renamed(owner, (parts) => parts.splice(0, 1, 'another host')),
      renamed(owner, (parts) => parts.splice(1, 1, String(process.ppid))),
      renamed(owner, (parts) => parts.splice(1, 1, '1')),
      renamed(owner, (parts) => parts.splice(2, 1, '99')),
      'nonsense',
      '',
    ]
    for (const name of doubtful) expect(runner.findDead([name])).toEqual([])
    runner.leave()
  })
})

describe('the host in the name of a runner', () => {
  const facts: HostFacts = {
    platform: 'linux',
    hostname: 'app',
    bootId: '6d0f',
    processNamespace: 'pid:[4026531836]',
    hardware: ['00:00:00:00:00:00', '02:42:ac:11:00:02'],
  }
  const mac: HostFacts = { ...facts, platform: 'darwin', bootId: '', processNamespace: '' }

  it('is the same for two processes of one host, or of one container', () => {
    expect(hostOf(facts)).toBe(hostOf({ ...facts }))
    expect(hostOf(mac)).toBe(hostOf({ ...mac, hardware: [...mac.hardware].reverse() }))
  })

  it.each<[string, HostFacts]>([
    ['two containers of one machine with the same hostname', { ...facts, processNamespace: 'pid:[4026532001]' }],
    ['two machines with the same hostname', { ...facts, bootId: 'a1b2' }],
    ['two boots of one machine', { ...facts, bootId: 'ffff' }],
  ])('differs for %s: process 1 of one is not process 1 of the other', (_, other) => {
    expect(hostOf(other)).not.toBe(hostOf(facts))
  })

  it('differs for two machines with the same hostname where the platform has no boot id', () => {
    expect(hostOf({ ...mac, hardware: ['02:42:ac:11:00:03'] })).not.toBe(hostOf(mac))
  })

  it.each<[string, HostFacts]>([
    ['no boot id', { ...facts, bootId: '' }],
    ['no process namespace', { ...facts, processNamespace: '' }],
    ['no hardware address', { ...mac, hardware: ['00:00:00:00:00:00'] }],
  ])('is that of this process alone where it cannot be told: %s', (_, unsure) => {
    expect(hostOf(unsure)).not.toBe(hostOf(unsure))
  })

  it('has no part of the name in it', () => {
    expect(hostOf({ ...facts, hostname: 'a|b' })).not.toContain('|')
  })
})

describe('a runner on its own', () => {
  it('takes no runner for dead', () => {
    const runner = leaseOnly()
    expect(runner.findDead([runner.owner])).toEqual([])
    expect(runner.findDead(['anybody'])).toEqual([])
    runner.onActive(() => expect.unreachable('never active again'))()
  })
})
