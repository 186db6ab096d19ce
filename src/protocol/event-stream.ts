export { isEventStream } from './headers.ts'
