/** The script of the Workers of `WorkerPlugin`. */
import { serve } from './component-worker.js';

serve();
