/** Another request of the same shape: what a careless client would send under a key that is taken. */
export function changeBody(body: Uint8Array): Uint8Array {
  const text = new TextDecoder().decode(body)
  try {
    return new TextEncoder().encode(JSON.stringify(changed(JSON.parse(text))))
  } catch {
    return new TextEncoder().encode(`${text} `)
  }
}

/** Changes one value: the first number, else the first text; an object without either gets one more property. */
function changed(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'string') return `${value}-other`
  if (typeof value !== 'object' || value === null) return { holdfastProbe: value }
  const entries = Object.entries(value)
  const chosen =
    entries.find(([, inner]) => typeof inner === 'number') ??
    entries.find(([, inner]) => typeof inner === 'string') ??
    entries.find(([, inner]) => typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0)
  if (Array.isArray(value)) {
    return chosen ? value.map((inner, at) => (String(at) === chosen[0] ? changed(inner) : inner)) : [...value, 'other']
  }
  return chosen ? { ...value, [chosen[0]]: changed(chosen[1]) } : { ...value, holdfastProbe: true }
}
