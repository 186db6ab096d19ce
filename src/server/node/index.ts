export {
  type Idempotent,
  type NextFunction,
  type NodeHandlerOptions,
  type NodeMiddleware,
  nodeHandler,
  nodeRetryContext,
} from '../http/node/node-handler.ts'
