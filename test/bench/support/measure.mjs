// How the sections measure: rounds that take turns, so that a moment in which the machine is busy hits all of them.
import { tell } from './section.mjs'

/** Calls per second, and microseconds of CPU per call of all threads of this process, in one round. */
export async function measureRound(call, { concurrency, roundMs }) {
  // The garbage of the contender before is not this one's.
  global.gc?.()
  const cpuBefore = process.cpuUsage()
  const start = performance.now()
  let done = 0
  const caller = async () => {
    do {
      await call()
      done++
    } while (performance.now() - start < roundMs)
  }
  await Promise.all(Array.from({ length: concurrency }, caller))
  const seconds = (performance.now() - start) / 1000
  const cpu = process.cpuUsage(cpuBefore)
  return { rate: done / seconds, cpuMicros: (cpu.user + cpu.system) / done }
}

/**
 * Each of `calls` in each round, in another order each time. What the report divides by is `baseline`, of the same
 * round. The first round is thrown away: in it the engine compiles the code, and connections are opened.
 */
export async function compare(calls, { title, baseline, concurrency, rounds, roundMs, round = measureRound }) {
  const names = Object.keys(calls)
  const measured = names.map((name) => ({ name, rates: [], cpuMicros: [] }))
  for (let number = 0; number <= rounds; number++) {
    tell(`${title}, ${concurrency} at once: round ${number} of ${rounds}`)
    for (let step = 0; step < names.length; step++) {
      const contender = measured[(step + number) % names.length]
      const { rate, cpuMicros } = await round(calls[contender.name], { concurrency, roundMs })
      if (number === 0) continue
      contender.rates.push(rounded(rate))
      if (cpuMicros !== undefined) contender.cpuMicros.push(rounded(cpuMicros))
    }
  }
  return { title, concurrency, baseline, measured }
}

/** Four digits: no measurement here is worth more. */
export function rounded(number) {
  return Number(number.toPrecision(4))
}
