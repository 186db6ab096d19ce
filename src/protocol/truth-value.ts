/** True as headers say it: `true`, `1`, or the structured-field boolean `?1`. */
export function saysTrue(value: string): boolean {
  const word = value.trim().toLowerCase()
  return word === 'true' || word === '1' || word === '?1'
}
