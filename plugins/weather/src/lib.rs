//! An example of a tool that asks an HTTP API with a key that it never sees: the weather at a place, by tomorrow.io.
//!
//! The declaration names the origin and the secret with its audience; whoever grants both decides which key it is:
//! `windlass plugin grant weather.wasm --http https://api.tomorrow.io --secret TOMORROW_API_KEY=MY_VARIABLE`.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use windlass_plugin::{
    Structured, ToolError,
    http::Request,
    input, plugin, secrets, serde,
    serde_json::{self, Value},
    tool,
};

const URL: &str = "https://api.tomorrow.io/v4/weather/realtime";

/// The declared name of the key, and the header that the API takes it in.
const KEY: &str = "TOMORROW_API_KEY";
const HEADER: &str = "apikey";

/// The longest answer that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// The most of an error message of the API that the model reads, in characters.
const LONGEST_MESSAGE: usize = 300;

#[input]
struct Weather {
    /// A place, such as `Oslo` or `59.91,10.75`.
    #[schemars(length(min = 1, max = 200))]
    place: String,
}

/// What the weather is.
#[derive(Debug, serde::Serialize)]
#[serde(crate = "windlass_plugin::serde")]
struct Report {
    place: String,
    /// When it was so, in UTC.
    time: String,
    temperature_celsius: Option<f64>,
    humidity_percent: Option<f64>,
    wind_metres_per_second: Option<f64>,
    rain_probability_percent: Option<f64>,
}

/// Says what the weather is at a place now.
#[tool(read_only, open_world, retry = "run_again", timeout_ms = 20_000)]
fn current_weather(input: Weather) -> Result<Structured<Report>, ToolError> {
    if !secrets::available(KEY) {
        return Err(ToolError::new(format!(
            "The weather needs a key of tomorrow.io: `windlass plugin grant` gives the plugin the secret {KEY}."
        )));
    }
    // Everything is escaped, so that no place adds a field to the query.
    let place = utf8_percent_encode(&input.place, NON_ALPHANUMERIC);
    let url = format!("{URL}?units=metric&location={place}");
    let request = Request::new("GET", url).header("accept", "application/json");
    let answer = secrets::send(&request, &[secrets::header(HEADER, KEY)])?;
    let status = answer.status;
    let body: Value = serde_json::from_str(&answer.text(LONGEST)?).map_err(|error| {
        ToolError::new(format!(
            "The weather service answered {status} and no JSON: {error}."
        ))
    })?;
    match status {
        200 => Ok(Structured(report(&input.place, &body))),
        429 => Err(ToolError::new(
            "The key of the weather service has no requests left: try again later.",
        )),
        _ => {
            let message = body["message"].as_str().unwrap_or("no reason is given");
            let message: String = message.chars().take(LONGEST_MESSAGE).collect();
            Err(ToolError::new(format!(
                "The weather service answered {status}: {message}"
            )))
        }
    }
}

fn report(place: &str, body: &Value) -> Report {
    let values = &body["data"]["values"];
    Report {
        place: body["location"]["name"]
            .as_str()
            .unwrap_or(place)
            .to_owned(),
        time: body["data"]["time"].as_str().unwrap_or_default().to_owned(),
        temperature_celsius: values["temperature"].as_f64(),
        humidity_percent: values["humidity"].as_f64(),
        wind_metres_per_second: values["windSpeed"].as_f64(),
        rain_probability_percent: values["precipitationProbability"].as_f64(),
    }
}

plugin! {
    tools: [current_weather],
    grants: {
        "http": ["https://api.tomorrow.io"],
        "secrets": [{
            "name": "TOMORROW_API_KEY",
            "description": "A key of tomorrow.io, which sells and gives away requests for the weather",
            "audience": ["https://api.tomorrow.io"],
        }],
    },
    limits: { "memory_bytes": 16_777_216, "timeout_ms": 20_000, "http_bytes": 2_097_152 },
}
