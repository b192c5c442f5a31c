//! How values of ours stand in columns: hashes as bytes, times as integers, words and names as text.
//!
//! Reading goes through each type's own constructor, so that a row can't hold what the type refuses.

use serde::{Serialize, de::DeserializeOwned, de::value::StrDeserializer};
use sqlx::{Database, Decode, Encode, Type, encode::IsNull, error::BoxDynError};

use crate::{attest, canon::Sha256, clock::Timestamp, name, review};

/// Implements the three column traits for `$type` by way of `$column`.
macro_rules! column {
    ($type:ty as $column:ty, $out:expr, $in:expr) => {
        impl<DB: Database> Type<DB> for $type
        where
            $column: Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                <$column as Type<DB>>::type_info()
            }

            fn compatible(ty: &DB::TypeInfo) -> bool {
                <$column as Type<DB>>::compatible(ty)
            }
        }

        impl<'q, DB: Database> Encode<'q, DB> for $type
        where
            $column: Encode<'q, DB>,
        {
            fn encode_by_ref(&self, buf: &mut DB::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
                let out: fn(&Self) -> Result<$column, BoxDynError> = $out;
                out(self)?.encode(buf)
            }
        }

        impl<'r, DB: Database> Decode<'r, DB> for $type
        where
            $column: Decode<'r, DB>,
        {
            fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
                let read: fn($column) -> Result<Self, BoxDynError> = $in;
                read(<$column as Decode<'r, DB>>::decode(value)?)
            }
        }
    };
}

/// Types that documents write as a string stand as that string.
macro_rules! words {
    ($($type:ty),+ $(,)?) => {
        $(column!($type as String, to_word, |word| from_word(&word));)+
    };
}

column!(Sha256 as Vec<u8>, |hash| Ok(hash.0.to_vec()), |bytes| {
    let bytes = <[u8; 32]>::try_from(bytes).map_err(|bytes| format!("{} bytes where 32 should be", bytes.len()))?;
    Ok(Self(bytes))
});

column!(Timestamp as i64, |at| Ok(at.micros()), |micros| {
    Self::from_micros(micros).ok_or_else(|| format!("{micros} is no time").into())
});

words!(
    attest::Level,
    attest::Role,
    name::Kind,
    name::ServerName,
    name::Namespace,
    name::SetName,
    name::Variant,
    name::Version,
    review::CandidateId,
    review::Outcome,
    review::Reason,
    review::ReviewerId,
    super::Role,
    super::Stage,
);

fn to_word<T: Serialize>(value: &T) -> Result<String, BoxDynError> {
    match serde_json::to_value(value)? {
        serde_json::Value::String(word) => Ok(word),
        other => Err(format!("{other} is no word").into()),
    }
}

fn from_word<T: DeserializeOwned>(word: &str) -> Result<T, BoxDynError> {
    let word: StrDeserializer<'_, serde::de::value::Error> = StrDeserializer::new(word);
    T::deserialize(word).map_err(Into::into)
}
