import { connect, createServer, type Socket } from 'node:net'

export interface CuttingProxy {
  /** The same database, through the proxy. */
  readonly url: string
  /** How often it has cut a statement. */
  readonly cuts: number
  /** Cuts the connection on which the next COMMIT comes: before the server gets it, or before its answer is told. */
  cutCommit(when: 'before' | 'after'): void
  /** The same for the next statement that has this text in it; from then on, where that is said, no connection is let through. */
  cutStatement(text: string, when: 'before' | 'after', then?: 'down'): void
  /** From now on no connection is let through, and those that are there are cut; or they are again. */
  setDown(isDown: boolean): void
  close(): Promise<void>
}

/** Stands between a client and Postgres, and breaks connections at the worst moment. */
export async function cuttingProxy(url: string): Promise<CuttingProxy> {
  const through = new URL(url)
  const { port, hostname } = through
  const sockets = new Set<Socket>()
  let cut: { readonly text: string; readonly when: 'before' | 'after'; readonly then?: 'down' | undefined } | undefined
  let down = false
  let cuts = 0
  const server = createServer((client) => {
    if (down) return void client.destroy()
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    let silent = false
    client.on('data', (data) => {
      const when = cut && data.includes(cut.text) ? cut.when : undefined
      if (when) down ||= cut?.then === 'down'
      if (when) cuts++
      if (when) cut = undefined
      if (when === 'before') upstream.destroy()
      else upstream.write(data)
      silent ||= when !== undefined
      if (when === 'before') client.destroy()
    })
    upstream.on('data', (data) => (silent ? client.destroy() : client.write(data)))
    client.on('end', () => upstream.end())
    upstream.on('end', () => client.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  through.host = `127.0.0.1:${(server.address() as { port: number }).port}`
  return {
    url: through.href,
    get cuts() {
      return cuts
    },
    cutCommit: (when) => {
      cut = { text: 'COMMIT\0', when }
    },
    cutStatement: (text, when, then) => {
      cut = { text, when, then }
    },
    setDown: (isDown) => {
      down = isDown
      if (isDown) for (const socket of sockets) socket.destroy()
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
