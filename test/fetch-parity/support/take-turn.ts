import type { ParityServers } from './parity-servers.ts'
import type { Run, Subject, Turn } from './run-case.ts'
import { REQUESTS, type Sight } from './scene.ts'

let tickets = 100_000

/** Has a case run once, here or in a page, and makes what was seen comparable. */
export async function takeTurn(
  servers: ParityServers,
  subject: Subject,
  run: (turn: Turn) => Promise<Run>,
): Promise<Run> {
  const ticket = `t${tickets++}`
  const { sight, keys } = await run({ subject, ticket })
  const requests = await servers.control(ticket, 'seen')
  await servers.control(ticket, 'end')
  const text = JSON.stringify(sight ?? null).replace(JSON.stringify(REQUESTS), () => JSON.stringify(requests))
  return { sight: masked(text, servers, ticket), keys }
}

/** Without what differs from run to run. */
function masked(text: string, { places }: ParityServers, ticket: string): Sight {
  const masks = { 'http://home': places.home, 'http://away': places.away, 'http://refused': places.refused, ticket }
  let plain = text.replaceAll(/-{4}(formdata-undici-|WebKitFormBoundary)\w+/g, '----boundary')
  for (const [mask, varying] of Object.entries(masks))
    plain = plain.replaceAll(varying, mask).replaceAll(encodeURIComponent(varying), mask)
  return JSON.parse(plain)
}
