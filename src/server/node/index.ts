export {
  type Idempotent,
  type NextFunction,
  type NodeHandlerOptions,
  nodeHandler,
} from '../http/node/node-handler.ts'
export { type NodeMiddleware, nodeRetryContext } from '../http/node/node-retry-context.ts'
