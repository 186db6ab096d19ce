import { connect, createServer, type Socket } from 'node:net'

export interface CuttingProxy {
  /** The same database, through the proxy. */
  readonly url: string
  /** Cuts the connection on which the next COMMIT comes: before the server gets it, or before its answer is told. */
  cutCommit(when: 'before' | 'after'): void
  close(): Promise<void>
}

/** Stands between a client and Postgres, and breaks connections at the worst moment. */
export async function cuttingProxy(url: string): Promise<CuttingProxy> {
  const through = new URL(url)
  const { port, hostname } = through
  const sockets = new Set<Socket>()
  let cut: 'before' | 'after' | undefined
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    let silent = false
    client.on('data', (data) => {
      const when = data.includes('COMMIT\0') ? cut : undefined
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
    cutCommit: (when) => {
      cut = when
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
