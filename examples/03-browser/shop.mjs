// All that this shop needs to know of Holdfast. Everything else in this folder is for the eyes.
import { createClient } from 'holdfast'

/** `observe` is told every event; `onSettled` how an order ended, whichever tab began it; `onTrouble` if nothing can be kept. */
export function openShop({ api, observe, onSettled, onTrouble }) {
  const client = createClient({
    baseUrl: api,
    observe,
    onGiveUp: 'keep', // somebody who gives up waiting does not give up the order
    deadline: '2m',
    retry: { base: 300, cap: '3s', jitter: 'equal', maxAttempts: 100 },
    budget: { burst: 200 }, // the server is bad on purpose
  })
  client.onSettled('order', onSettled)

  // What a reload, a crash or a closed tab left behind is finished by whichever tab is open.
  client.resume({ continuous: true }).catch(onTrouble)

  return {
    /** The id says which order this is: asked for again, it is still the same one. */
    place({ order, product }) {
      const metadata = { order, product }
      return client.post('/orders', { id: `order:${order}`, name: 'order', metadata, json: metadata })
    },
    /** Everything on record in this browser, pending or done. */
    orders: () => client.operations(),
  }
}
