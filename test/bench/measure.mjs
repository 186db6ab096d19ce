// How the benchmarks measure: interleaved rounds of one run, and ratios within a round.

/** Calls per second and CPU time of this process per call, in one round. */
export async function measure(call, { concurrency, roundMs }) {
  const cpuBefore = process.cpuUsage()
  const start = performance.now()
  let done = 0
  const worker = async () => {
    while (performance.now() - start < roundMs) {
      await call()
      done++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  const seconds = (performance.now() - start) / 1000
  const cpu = process.cpuUsage(cpuBefore)
  return { rate: done / seconds, cpuMicros: (cpu.user + cpu.system) / done }
}

/**
 * Every call in every round, in turns, and each one as a share of what `baseline` reached in the same round. The first
 * round is for warming up.
 */
export async function compare(calls, { baseline, concurrency, rounds, roundMs, label }) {
  const names = Object.keys(calls)
  const results = Object.fromEntries(names.map((name) => [name, []]))
  for (const name of names) await measure(calls[name], { concurrency, roundMs })
  for (let round = 0; round < rounds; round++) {
    const order = names.map((_, index) => names[(index + round) % names.length])
    for (const name of order) results[name].push(await measure(calls[name], { concurrency, roundMs }))
    process.stderr.write(`\r${label} at ${concurrency}: round ${round + 1}/${rounds} `)
  }
  process.stderr.write('\r\x1b[K')
  return Object.fromEntries(
    names.map((name) => {
      const ratios = results[name].map((result, round) => result.rate / results[baseline][round].rate)
      const row = {
        'per second': Math.round(median(results[name].map((result) => result.rate))),
        'ratio (IQR)': withSpread(ratios, 2),
        'CPU us': Math.round(median(results[name].map((result) => result.cpuMicros))),
      }
      return [name, row]
    }),
  )
}

export function withSpread(numbers, digits) {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((q) => quantile(numbers, q).toFixed(digits))
  return `${middle} (${low}-${high})`
}

export const median = (numbers) => quantile(numbers, 0.5)

export function quantile(numbers, q) {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]
}
