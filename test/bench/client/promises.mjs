// Promises that one call makes, counted by async_hooks.
import { createHook } from 'node:async_hooks'
import { rounded } from '../support/measure.mjs'
import { runSection, tell } from '../support/section.mjs'
import { startServer } from '../support/start-server.mjs'
import { clientsOf, closeClients } from './clients.mjs'

await runSection(async ({ directory, countedCalls }) => {
  const server = await startServer()
  const clients = clientsOf({ base: server.base, directory })
  const facts = []
  try {
    for (const [name, client] of Object.entries(clients)) {
      tell(`promises of a call by ${name}`)
      const values = {}
      for (const verb of ['get', 'post']) {
        if (client[verb]) values[verb] = await promisesPer(client[verb], countedCalls)
      }
      facts.push({ name, values })
    }
  } finally {
    await closeClients(clients)
    server.stop()
  }
  return { facts }
})

async function promisesPer(call, times) {
  for (let warmUp = 0; warmUp < 20; warmUp++) await call()
  let promises = 0
  const hook = createHook({ init: (_, type) => void (type === 'PROMISE' && promises++) })
  hook.enable()
  for (let number = 0; number < times; number++) await call()
  hook.disable()
  // `await call()` makes one promise of its own.
  return rounded(promises / times - 1)
}
