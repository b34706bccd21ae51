/** `wasi:io`: streams of bytes, none of which ever has to be waited for. */
import { PIECE } from './wasi-open-files.js';

/** Bytes that the functions take which write and flush at once: the interface says so. */
const FLUSHED = 4096;

/** Bytes of the longest line that is printed; a longer one becomes several. */
const LINE = 4096;

/** As the resource is called: why a stream failed, by a code of `windlass:host/types`. */
export class IoError {
  constructor(code) {
    this.code = code;
  }

  toDebugString() {
    return this.code;
  }
}

/** Something to wait for: everything here is there at once. */
export class Pollable {
  #call;

  constructor(call) {
    this.#call = call;
    call.hold(this);
  }

  ready() {
    this.#call.count();
    return true;
  }

  block() {
    this.#call.count();
  }
}

/** Where bytes come from: an open file, or nothing. */
export class InputStream {
  #call;
  #file;
  #at;

  constructor(call, file, at = 0) {
    this.#call = call;
    this.#file = file;
    this.#at = at;
    call.hold(this, () => file && call.openFiles.close(file));
  }

  read(length) {
    this.#call.count();
    if (!this.#file) throw { tag: 'closed' };
    const bytes = streamed(() => this.#file.read(this.#at, Number(length)));
    if (bytes.length === 0 && length > 0n) throw { tag: 'closed' };
    this.#at += bytes.length;
    return bytes;
  }

  blockingRead(length) {
    return this.read(length);
  }

  skip(length) {
    return BigInt(this.read(length).length);
  }

  blockingSkip(length) {
    return this.skip(length);
  }

  subscribe() {
    this.#call.count();
    return new Pollable(this.#call);
  }
}

/** Where bytes go. */
export class OutputStream {
  #call;
  #take;

  /** @param {(bytes: Uint8Array) => void} take  @param {() => void} [end] called when it is dropped */
  constructor(call, take, end) {
    this.#call = call;
    this.#take = take;
    call.hold(this, end);
  }

  /** Into a file, from a position on; without one always at its end. */
  static into(call, file, start) {
    let at = start;
    const take = (bytes) => {
      const end = file.write(at, bytes);
      if (at !== undefined) at = end;
    };
    return new OutputStream(call, take, () => call.openFiles.close(file));
  }

  /** Into the log, by lines. */
  static printing(call, level) {
    const lines = new Lines((line) => call.log(level, line));
    return new OutputStream(call, (bytes) => lines.take(bytes), () => lines.end());
  }

  checkWrite() {
    this.#call.count();
    return BigInt(PIECE);
  }

  write(bytes) {
    this.#put(bytes, PIECE);
  }

  blockingWriteAndFlush(bytes) {
    this.#put(bytes, FLUSHED);
  }

  writeZeroes(length) {
    this.#put(zeroes(length, PIECE), PIECE);
  }

  blockingWriteZeroesAndFlush(length) {
    this.#put(zeroes(length, FLUSHED), FLUSHED);
  }

  /** Nothing: whole files are kept when they are synced or closed, and whole lines are told. */
  flush() {
    this.#call.count();
  }

  blockingFlush() {
    this.#call.count();
  }

  splice(from, length) {
    const bytes = from.read(length);
    this.#put(bytes, PIECE);
    return BigInt(bytes.length);
  }

  blockingSplice(from, length) {
    return this.splice(from, length);
  }

  subscribe() {
    this.#call.count();
    return new Pollable(this.#call);
  }

  #put(bytes, most) {
    this.#call.count();
    checkLength(bytes.length, most);
    streamed(() => this.#take(bytes));
  }
}

/** `wasi:io/poll`: all that is asked for is there. */
export function poll(call) {
  return (pollables) => {
    call.count();
    // The interface has no error for this, and waiting for nothing would never end.
    if (pollables.length === 0) throw new Error('it waited for nothing');
    return Uint32Array.from(pollables, (_, i) => i);
  };
}

/** What is printed becomes lines while it comes: no more of it is kept than the line that has not ended. */
class Lines {
  #tell;
  #line = [];

  constructor(tell) {
    this.#tell = tell;
  }

  take(bytes) {
    for (const byte of bytes) {
      if (byte === 0x0a || this.#line.length >= LINE) this.end();
      if (byte !== 0x0a) this.#line.push(byte);
    }
  }

  end() {
    if (this.#line.length === 0) return;
    this.#tell(new TextDecoder().decode(Uint8Array.from(this.#line)));
    this.#line = [];
  }
}

function zeroes(length, most) {
  checkLength(Number(length), most);
  return new Uint8Array(Number(length));
}

/** More than a stream has said that it takes ends the call. */
function checkLength(length, most) {
  if (length > most) throw new Error(`it wrote ${length} bytes to a stream at once, which had taken ${most}`);
}

/** What files refuse, as streams say it. */
function streamed(run) {
  try {
    return run();
  } catch (code) {
    if (typeof code !== 'string') throw code;
    throw { tag: 'last-operation-failed', val: new IoError(code) };
  }
}
