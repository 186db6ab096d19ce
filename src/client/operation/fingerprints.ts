import { type Digest, hex } from '../../foundation/digest.ts'
import { hmacSha256, secretId } from '../../foundation/hmac.ts'
import { type ComparedRequest, fingerprintInput } from './fingerprint.ts'

/**
 * What tells one request from another: a digest of method, URL and body. Beside a sealed body a plain digest would let a
 * reader of the journal guess a short one, so with secrets it is `<id of the secret>:<HMAC of the digest>`.
 */
export class Fingerprints {
  readonly #digest: Digest
  /** The current one first; the others belong to keys that are being replaced. */
  readonly #secrets: readonly { readonly id: string; readonly secret: Uint8Array }[]

  constructor(digest: Digest, secrets: readonly Uint8Array[] = []) {
    this.#digest = digest
    this.#secrets = secrets.map((secret) => ({ id: secretId(secret), secret }))
  }

  /** As a new record has it. */
  of(request: ComparedRequest): string | Promise<string> {
    const forms = this.#formsOf(request)
    return forms instanceof Promise ? forms.then(([current]) => current) : forms[0]
  }

  /** Is the stored one that of this request, in whichever form it was written? */
  isOf(stored: string, request: ComparedRequest): boolean | Promise<boolean> {
    const forms = this.#formsOf(request)
    return forms instanceof Promise ? forms.then((made) => made.includes(stored)) : forms.includes(stored)
  }

  /** False: it was made with a secret that this client does not have. */
  canCompare(stored: string): boolean {
    const colon = stored.indexOf(':')
    return colon < 0 || this.#secrets.some(({ id }) => id === stored.slice(0, colon))
  }

  #formsOf(request: ComparedRequest): Forms | Promise<Forms> {
    const { texts, bytes } = fingerprintInput(request)
    const plain = this.#digest(texts, bytes)
    return typeof plain === 'string' ? this.#forms(plain) : plain.then((made) => this.#forms(made))
  }

  /** The plain digest is last: records from before the encryption have it. */
  #forms(plain: string): Forms {
    const keyed = this.#secrets.map(({ id, secret }) => `${id}:${hex(hmacSha256(secret, plain))}`)
    const [first = plain, ...others] = keyed
    return keyed.length === 0 ? [plain] : [first, ...others, plain]
  }
}

type Forms = readonly [string, ...string[]]
