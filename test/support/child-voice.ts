/** For programs that a test starts: what they were told, how they speak, and that they never outlive the test. */
import { createInterface } from 'node:readline'

export function inputOf<T>(): T {
  process.stdin.on('end', () => process.exit()).resume()
  return JSON.parse(process.argv[2] ?? '{}') as T
}

const orders = new Map<string, (rest: string) => void>()
let isListening = false

/** What the test says to the program: lines of an order and what belongs to it (`blink 300`). */
export function onOrder(name: string, obey: (rest: string) => void): void {
  orders.set(name, obey)
  if (isListening) return
  isListening = true
  createInterface(process.stdin).on('line', (line) => {
    const [order = '', rest = ''] = line.split(' ')
    orders.get(order)?.(rest)
  })
}

/** One line of JSON. Pipes are written synchronously: what was said before a SIGKILL was said. */
export function say(is: string, more: object = {}): void {
  process.stdout.write(`${JSON.stringify({ is, ...more })}\n`)
}

/** Never comes back. Whoever calls it waits to be killed. */
export function hang(): Promise<never> {
  return new Promise(() => {})
}
