import { headerValue } from '../../../protocol/headers.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Sent } from '../wire.ts'
import { leavesOutOfTurn } from './lane-rule.ts'
import type { Violation } from './oracle.ts'
import type { Shadow } from './shadow.ts'

/** What is asked about a request at the moment it leaves. */
export interface Leaving {
  readonly sent: Sent
  readonly process: SimulatedProcess
  readonly shadow: Shadow | undefined
  /** Of all operations. */
  readonly shadows: ReadonlyMap<string, Shadow>
  /** Until when, by its own clock, this process may send it; undefined where it has no business to. */
  readonly until: number | undefined
  /** Does only the lease's owner send? Not where clocks jump or a cancel takes the lease. */
  readonly leaseIsLaw: boolean
}

/** P1, P2, P5, P7, P8 and lanes, as far as a request on its way out shows them. */
export function judgeLeaving(leaving: Leaving): Violation | undefined {
  const { sent, shadow } = leaving
  if (!shadow) return ['P1', `request ${sent.number} carries a key that was never written down`]
  return (
    differsFromRecord(sent, shadow) ??
    leavesTooLate(leaving, shadow) ??
    leavesUnlawfully(leaving, shadow) ??
    leavesOutOfTurn(leaving, shadow)
  )
}

function differsFromRecord(sent: Sent, shadow: Shadow): Violation | undefined {
  // Its signature is a credential, and not on record.
  const [url] = sent.url.split('?')
  if (sent.method !== shadow.method || url !== shadow.url) return ['P2', `request ${sent.number} went elsewhere`]
  if (!sameBytes(sent.body, shadow.body)) return ['P2', `request ${sent.number} has other bytes than its record`]
  if (!shadow.head.fingerprint) return ['P1', `the record of request ${sent.number} has no fingerprint`]
  return undefined
}

function leavesTooLate({ sent, process, until }: Leaving, shadow: Shadow): Violation | undefined {
  const now = process.clock.now()
  if (now >= shadow.horizonAt) return ['P5', `request ${sent.number} leaves at or after its horizon`]
  if (until === undefined) return ['P5', `request ${sent.number} leaves without a call to ${process.name}`]
  if (now >= until) return ['P5', `request ${sent.number} leaves ${Math.ceil(now - until)} ms after its deadline`]
  if (Number(headerValue(sent.headers, 'request-timeout-ms')) <= 0) return ['P5', `request ${sent.number} has no time`]
  return undefined
}

function leavesUnlawfully({ sent, process, leaseIsLaw }: Leaving, shadow: Shadow): Violation | undefined {
  if (shadow.verdictKnown) return ['P7', `request ${sent.number} leaves although the server has said "do not retry"`]
  if (leaseIsLaw && (!shadow.there || shadow.owner !== process.owner)) {
    const holder = shadow.there ? (shadow.owner ?? 'no runner') : 'no runner: the record is gone'
    return ['P8', `${process.name} sends request ${sent.number} while the lease is with ${holder}`]
  }
  return undefined
}

function sameBytes(one: Uint8Array | null, other: Uint8Array | null): boolean {
  if (one === null || other === null) return one === other
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}
