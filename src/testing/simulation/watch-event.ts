import type { HoldfastEvent } from '../../observe/port.ts'
import { SECRET } from './model-server.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { World } from './world.ts'

/** What an event shows is noted, what it claims is held against what happened, and no secret may be in it. */
export function watchEvent(world: World, process: SimulatedProcess, event: HoldfastEvent): void {
  if (!process.alive) return
  const { oracle } = world
  if (event.type === 'lease.lost') oracle.observed('lease lost')
  if (event.type === 'budget.exhausted') oracle.observed('budget exhausted')
  if (event.type === 'breaker.changed' && event.to === 'open') oracle.observed('breaker opened')
  if (event.type === 'operation.resumed') oracle.observed('resumed')
  if (event.type === 'operation.settled') oracle.claimed(event.operation.key, { effect: event.effect, by: 'an event' })
  if (JSON.stringify(event).includes(SECRET)) oracle.breaks(['P9', `a credential is in the event ${event.type}`])
  if (world.traced && !event.type.startsWith('attempt')) world.say(process.name, describeEvent(event))
}

function describeEvent(event: HoldfastEvent): string {
  const reason = 'reason' in event && event.reason ? ` (${event.reason})` : ''
  const status = 'status' in event ? ` ${event.status}` : ''
  return `emits: ${event.type}${status}${reason}`
}
