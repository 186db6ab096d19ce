export { Cancellation } from './abort.ts'
