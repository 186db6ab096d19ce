import { connect, createServer, type Socket } from 'node:net'

export interface CuttingProxy {
  /** The same database, through the proxy. */
  readonly url: string
  /** How often it has cut a statement. */
  readonly cuts: number
  /** Cuts the connection on which the next COMMIT comes: before the server gets it, or before its answer is told. */
  cutCommit(when: 'before' | 'after'): void
  /** The same for the next statement that has this text in it; if that is said, also all other connections, until `setDown(false)`. */
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
  const setDown = (isDown: boolean): void => {
    down = isDown
    if (isDown) for (const socket of sockets) socket.destroy()
  }
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
      const isLast = when !== undefined && cut?.then === 'down'
      if (when) cuts++
      if (when) cut = undefined
      if (when === 'before') upstream.destroy()
      else upstream.write(data)
      silent ||= when !== undefined
      if (when === 'before') client.destroy()
      // What the server has got already, it may still do.
      if (isLast && when === 'before') setDown(true)
      else down ||= isLast
    })
    upstream.on('data', (data) => {
      if (!silent) client.write(data)
      else if (down) setDown(true)
      else client.destroy()
    })
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
    setDown,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
