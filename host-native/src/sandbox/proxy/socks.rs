//! The SOCKS proxy for everything but HTTP: version 5 (RFC 1928), `CONNECT` only.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::{BEGINNING, Closed, Gate};
use crate::net::{Target, TargetError};

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;

/// The reply codes.
#[derive(Debug, Clone, Copy)]
enum Reply {
    Connected = 0,
    Refused = 2,
    Unreachable = 4,
    UnknownCommand = 7,
    UnknownAddress = 8,
}

/// Serves one connection to its end.
pub(super) async fn serve(mut connection: TcpStream, gate: &Gate) {
    // A client that disconnects is not an error.
    let opened = tokio::time::timeout(BEGINNING, open(&mut connection, gate)).await;
    if let Ok(Ok(Some(mut there))) = opened {
        let _ = tokio::io::copy_bidirectional(&mut connection, &mut there).await;
    }
}

/// The handshake. Returns `None` if it ended with a refusal.
async fn open(connection: &mut TcpStream, gate: &Gate) -> io::Result<Option<TcpStream>> {
    let [version, count] = read(connection).await?;
    if version != VERSION {
        return Ok(None);
    }
    let mut methods = vec![0; count.into()];
    connection.read_exact(&mut methods).await?;
    if !methods.contains(&NO_AUTHENTICATION) {
        connection.write_all(&[VERSION, NO_METHOD]).await?;
        return Ok(None);
    }
    connection.write_all(&[VERSION, NO_AUTHENTICATION]).await?;
    let [_, command, _, kind] = read(connection).await?;
    let host = match kind {
        1 => Ipv4Addr::from(read::<4>(connection).await?).to_string(),
        4 => format!("[{}]", Ipv6Addr::from(read::<16>(connection).await?)),
        3 => {
            let [length] = read(connection).await?;
            let mut name = vec![0; length.into()];
            connection.read_exact(&mut name).await?;
            String::from_utf8_lossy(&name).into_owned()
        }
        _ => {
            reply(connection, Reply::UnknownAddress).await?;
            return Ok(None);
        }
    };
    let port = u16::from_be_bytes(read(connection).await?);
    if command != CONNECT {
        reply(connection, Reply::UnknownCommand).await?;
        return Ok(None);
    }
    let target: Result<Target, TargetError> = Target::new(&host, port);
    let (answer, there) = match gate.connect(target).await {
        Ok(there) => (Reply::Connected, Some(there)),
        Err(Closed::Refused(_)) => (Reply::Refused, None),
        Err(Closed::Unreachable(_)) => (Reply::Unreachable, None),
    };
    reply(connection, answer).await?;
    Ok(there)
}

async fn read<const N: usize>(connection: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    connection.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// Sends a reply. The bound address is not revealed.
async fn reply(connection: &mut TcpStream, reply: Reply) -> io::Result<()> {
    connection
        .write_all(&[VERSION, reply as u8, 0, 1, 0, 0, 0, 0, 0, 0])
        .await
}
