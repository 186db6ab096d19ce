import { type DestinationStream, pino, stdSerializers } from 'pino'
import type { HoldfastEvent } from '../../../../src/index.ts'

/** For the option `observe`: one line for each event, with its fields beside pino's own. */
export function eventLogger(destination?: DestinationStream): (event: HoldfastEvent) => void {
  const options = { level: 'debug', serializers: { error: stdSerializers.err } }
  const logger = destination ? pino(options, destination) : pino(options)
  return (event) => logger[levelOf(event)](event, event.type)
}

function levelOf(event: HoldfastEvent): 'debug' | 'info' | 'warn' | 'error' {
  switch (event.type) {
    case 'journal.failed':
      return 'error'
    case 'operation.settled':
      return event.status === 'succeeded' ? 'info' : 'warn'
    case 'lease.lost':
    case 'budget.exhausted':
    case 'breaker.changed':
    case 'journal.unattended':
    case 'horizon.shortened':
      return 'warn'
    default:
      return 'debug'
  }
}
