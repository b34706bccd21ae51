/** The Workers of dropped components. */
import { serve } from 'windlass/component-worker';

serve();
