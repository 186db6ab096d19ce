import * as zlib from 'node:zlib'

type Decode = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array

/** Node 20 has no Zstandard, and neither have the types of this version. */
const { zstdDecompressSync } = zlib as { readonly zstdDecompressSync?: Decode }

const DECODERS: ReadonlyMap<string, Decode | undefined> = new Map<string, Decode | undefined>([
  ['gzip', zlib.gunzipSync],
  ['x-gzip', zlib.gunzipSync],
  ['deflate', inflate],
  ['br', zlib.brotliDecompressSync],
  ['zstd', zstdDecompressSync],
])

/** A body of a few kilobytes can decode to gigabytes. */
const MOST_DECODED_BYTES = 64 * 1024 * 1024

/** The body without its codings, given in the order of their application. Undefined: it can't be decoded here. */
export function decodeBody(codings: readonly string[], body: Uint8Array): Uint8Array | undefined {
  try {
    return codings.reduceRight((bytes, coding) => decoded(coding, bytes), body)
  } catch {
    return undefined
  }
}

function decoded(coding: string, bytes: Uint8Array): Uint8Array {
  const decode = DECODERS.get(coding)
  if (!decode) throw new Error(`The coding ${coding} is not known`)
  const { buffer, byteOffset, byteLength } = decode(bytes, { maxOutputLength: MOST_DECODED_BYTES })
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** Some servers leave out the wrapper that HTTP asks for. */
function inflate(...given: Parameters<Decode>): Uint8Array {
  try {
    return zlib.inflateSync(...given)
  } catch {
    return zlib.inflateRawSync(...given)
  }
}
