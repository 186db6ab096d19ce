export {
  type Resuming,
  resumeInServiceWorker,
  type ServiceWorkerScope,
  wakeServiceWorker,
} from '../client/coordination/service-worker-resume.ts'
