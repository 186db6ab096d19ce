/**
 * Counts the ways in which fingerprints have been made. It goes up with every change of what equal requests are (what is
 * hashed, how a body is canonicalised), so that a retry across a deploy is not taken for another request.
 */
const FINGERPRINT_VERSION = 1

/** As it is stored: `1:<digest>`. Digests of before the first version have no prefix. */
export function versionedFingerprint(digest: string): string {
  return `${FINGERPRINT_VERSION}:${digest}`
}

/** `incomparable`: made in different ways, with different results, which says nothing. */
export function compareFingerprints(stored: string, asked: string): 'same' | 'different' | 'incomparable' {
  const [first, second] = [split(stored), split(asked)]
  if (first.digest === second.digest) return 'same'
  return first.version === second.version ? 'different' : 'incomparable'
}

function split(fingerprint: string): { readonly version: string; readonly digest: string } {
  const at = fingerprint.indexOf(':')
  return { version: fingerprint.slice(0, Math.max(0, at)), digest: fingerprint.slice(at + 1) }
}
