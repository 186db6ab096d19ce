/** For programs that a test starts: what they were told, how they speak, and that they never outlive the test. */

export function inputOf<T>(): T {
  process.stdin.on('end', () => process.exit()).resume()
  return JSON.parse(process.argv[2] ?? '{}') as T
}

/** One line of JSON. Pipes are written synchronously: what was said before a SIGKILL was said. */
export function say(is: string, more: object = {}): void {
  process.stdout.write(`${JSON.stringify({ is, ...more })}\n`)
}

/** Never comes back. Whoever calls it waits to be killed. */
export function hang(): Promise<never> {
  return new Promise(() => {})
}
