const LENGTH_BYTES = 4
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** A head as JSON with its length before it, then the body: one byte string that can be sealed as a whole. */
export function frame(head: object, body: Uint8Array | null): Uint8Array {
  const text = encoder.encode(JSON.stringify(head))
  const whole = new Uint8Array(LENGTH_BYTES + text.length + (body?.length ?? 0))
  new DataView(whole.buffer).setUint32(0, text.length)
  whole.set(text, LENGTH_BYTES)
  if (body) whole.set(body, LENGTH_BYTES + text.length)
  return whole
}

/** Throws if the bytes are no frame. */
export function unframe(whole: Uint8Array): { readonly head: unknown; readonly body: Uint8Array } {
  const length = new DataView(whole.buffer, whole.byteOffset, whole.byteLength).getUint32(0)
  const end = LENGTH_BYTES + length
  if (end > whole.length) throw new Error('The bytes are no frame')
  return { head: JSON.parse(decoder.decode(whole.subarray(LENGTH_BYTES, end))), body: whole.slice(end) }
}
