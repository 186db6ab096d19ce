export { idempotent, type Register, type RegisteredContext } from '../http/node/express-middleware.ts'
