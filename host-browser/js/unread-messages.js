/** Messages of the core that nobody has read yet. Each is read once: as an object, or as the line that the core wrote. */

/** Between two events of a stream. No event has a line feed of its own, and together they are the elements of an array. */
const SEPARATOR = ',\n';

/** The fields of an envelope that a message has of its own. No text in JSON looks like them: its quotation marks are escaped. */
const EVENT = '"event":null';
const UUID = '"uuid":"00000000-0000-0000-0000-000000000000"';
const UUID_LENGTH = 36;

/** One message, a line of JSON. */
export class MessageLine {
  /** How many are not read. */
  left = 1;
  #line;

  constructor(line) {
    this.#line = line;
  }

  message() {
    this.left -= 1;
    return JSON.parse(this.#line);
  }

  line() {
    this.left -= 1;
    return this.#line;
  }
}

/** Messages that are events of a stream, which came together and differ in the event and the UUID. */
export class StreamEvents {
  left;
  #envelope;
  #events;
  #uuids;
  #read = 0;
  #parsed;
  #texts;

  /**
   * @param {string} envelope the line of such a message, without an event and with a nil UUID
   * @param {string} events
   * @param {string} uuids one behind the other
   * @param {number} count
   */
  constructor(envelope, events, uuids, count) {
    this.#envelope = envelope;
    this.#events = events;
    this.#uuids = uuids;
    this.left = count;
  }

  message() {
    // Read all at once, and the envelope once: that costs a third of what it does line by line.
    this.#parsed ??= { envelope: JSON.parse(this.#envelope), events: JSON.parse(`[${this.#events}]`) };
    const { envelope, events } = this.#parsed;
    const [index, uuid] = this.#next();
    return { ...envelope, event: events[index], uuid };
  }

  line() {
    this.#texts ??= { around: this.#envelope.split(EVENT).flatMap((part) => part.split(UUID)), events: this.#events.split(SEPARATOR) };
    const { around, events } = this.#texts;
    const [index, uuid] = this.#next();
    return `${around[0]}"event":${events[index]}${around[1]}"uuid":"${uuid}"${around[2]}`;
  }

  #next() {
    const index = this.#read;
    this.#read += 1;
    this.left -= 1;
    return [index, this.#uuids.slice(index * UUID_LENGTH, (index + 1) * UUID_LENGTH)];
  }
}
