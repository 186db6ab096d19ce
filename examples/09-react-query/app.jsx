import { QueryClientProvider, useMutation, useMutationState } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { ORDER, openOrders } from './orders.mjs'

const { queries } = openOrders()

function Shop() {
  const { mutate } = useMutation({ mutationKey: ORDER })
  const order = () => mutate({ number: crypto.randomUUID().slice(0, 8), product: 'loaf' })
  return (
    <main>
      <h1>Bakery</h1>
      <button type="button" onClick={order}>
        Order a loaf
      </button>
      <ServerSwitch />
      <Orders />
    </main>
  )
}

/** Every mutation, of this page or of one before. */
function Orders() {
  const orders = useMutationState({ filters: { mutationKey: ORDER } })
  return (
    <ul>
      {orders.map(({ variables, status, data }) => (
        <li key={variables.number} data-order={variables.number} data-status={status}>
          {variables.product} {variables.number}: {status} {data && `(no. ${data.count})`}
        </li>
      ))}
    </ul>
  )
}

function ServerSwitch() {
  const turn = (event) => fetch('/server', { method: 'PUT', body: event.target.checked ? 'down' : 'up' })
  return (
    <label>
      <input type="checkbox" onChange={turn} /> the server is down
    </label>
  )
}

createRoot(document.getElementById('root')).render(
  <QueryClientProvider client={queries}>
    <Shop />
  </QueryClientProvider>,
)
