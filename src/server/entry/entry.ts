import { hex } from '../../foundation/digest.ts'
import { hmacSha256 } from '../../foundation/hmac.ts'
import { areComparable, type BodySeen } from '../../protocol/fingerprint.ts'
import type { HeaderList } from '../../protocol/headers.ts'

/** The version of a stored row. A store upgrades older rows as it reads them, and never changes newer ones. */
export const ENTRY_VERSION = 1

/**
 * `running`: a request holds the claim. `done`: the answer is recorded. `unknown`: the handler is gone or can't say what
 * it did outside of the transaction. A released entry is absent.
 */
export type EntryState = 'running' | 'done' | 'unknown'

/** An answer as it is stored, and replayed byte for byte. */
export interface RecordedAnswer {
  readonly status: number
  /** Without cookies, credentials, dates and hop-by-hop fields. Names in lower case. */
  readonly headers: HeaderList
  /** Null where the answer had no body, or one that was too large to store. */
  readonly body: Uint8Array | null
  /** True where the answer had a body that was not stored. */
  readonly bodyOmitted: boolean
}

/** One key of one scope. Times are epoch milliseconds on the store's clock. */
export interface Entry {
  readonly scope: string
  readonly key: string
  /** A digest of the request, prefixed with how it was made. */
  readonly fingerprint: string
  readonly method: string
  readonly path: string
  readonly state: EntryState
  /** The fencing token of the current claim: writes under an older one change nothing. */
  readonly token: string
  /** How many handlers have begun under this key, from 1. */
  readonly attempt: number
  /** The handler was declared to have effects that the transaction can't roll back. */
  readonly external: boolean
  /** The claim has begun its transaction: unless the entry is `done`, that is still open or was rolled back. */
  readonly inEffect: boolean
  readonly createdAt: number
  readonly leaseUntil: number
  readonly completedAt: number | null
  readonly expiresAt: number
  /** Since when it is `unknown`; null in every other state. */
  readonly unknownSince: number | null
  readonly answer: RecordedAnswer | null
  readonly version: number
}

export type EntryMove =
  /** By a first request, or by one that comes after the retention. */
  | 'claimed'
  /** By a request that replaces the claim of a dead handler. */
  | 'taken-over'
  | 'recorded'
  | 'released'
  | 'abandoned'

export type EntryStateOrAbsent = EntryState | 'absent'

/**
 * The state machine of an entry. An event that is not in the row of a state changes nothing. The contract suite for
 * stores holds every store to this table.
 */
export const ENTRY_MOVES: Readonly<
  Record<EntryStateOrAbsent, Readonly<Partial<Record<EntryMove, EntryStateOrAbsent>>>>
> = {
  absent: { claimed: 'running' },
  running: { recorded: 'done', released: 'absent', abandoned: 'unknown', 'taken-over': 'running' },
  // Recorded by its own handler, whose lease had lapsed although it was alive.
  unknown: { 'taken-over': 'running', recorded: 'done' },
  // After its retention.
  done: { claimed: 'running' },
}

/**
 * While the transaction of a claim is open, the store itself shows that its handler is alive. The lease is then no longer
 * than this, so that a key whose process has died inside of its transaction is free again soon.
 */
export const LONGEST_EFFECT_LEASE_MS = 10_000

/**
 * Goes up with every change of what makes two requests equal (what is hashed, how a body is canonicalised). Without it,
 * a retry across a deploy would be refused as another request, for good.
 */
const FINGERPRINT_VERSION = 2

/** A secret that fingerprints are made with. `id` is stored with each of them, and says nothing about the secret. */
export interface FingerprintKey {
  readonly id: string
  readonly secret: Uint8Array
}

/** A request's digest, and how its body was seen. */
export interface RequestDigest {
  readonly digest: string
  readonly seen: BodySeen
}

/**
 * The fingerprints of a request: the first is stored, all are compared. `2/<how the body was seen>:<digest>`, or with a
 * secret `2/<how>/<id of the secret>:<HMAC of the digest>`. Before version 2 it was `1:<digest>`, and at first the digest alone.
 * The one without a secret is last: it knows what was stored before there was one.
 */
export function requestFingerprints(
  { digest, seen }: RequestDigest,
  keys: readonly FingerprintKey[],
): readonly [string, ...string[]] {
  const made = `${FINGERPRINT_VERSION}/${seen}`
  const keyed = keys.map(({ id, secret }) => `${made}/${id}:${hex(hmacSha256(secret, digest))}`)
  const [first, ...others] = [...keyed, `${made}:${digest}`]
  return [first as string, ...others]
}

/** `incomparable`: not equal, and made in ways in which one request may get two fingerprints. */
export function compareFingerprints(
  stored: string,
  received: string | readonly string[],
): 'same' | 'different' | 'incomparable' {
  const one = splitFingerprint(stored)
  const others = [received].flat().map(splitFingerprint)
  if (others.some(({ digest }) => digest === one.digest)) return 'same'
  const isComparable = others.some(
    ({ version, keyId, seen }) => version === one.version && keyId === one.keyId && areComparable(seen, one.seen),
  )
  return isComparable ? 'different' : 'incomparable'
}

function splitFingerprint(fingerprint: string) {
  const at = fingerprint.indexOf(':')
  const [version = '', seen = '', keyId = ''] = fingerprint.slice(0, Math.max(0, at)).split('/')
  return { version, seen, keyId, digest: fingerprint.slice(at + 1) }
}
