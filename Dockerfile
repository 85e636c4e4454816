# Image for a cluster, see docs/cluster.md: docker build --build-arg VERSION=$(git describe --always) -t mldp .
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-X main.version=$VERSION" -o /mldp ./cmd/mldp && \
    bash .ci/notices > /THIRD_PARTY.txt

FROM debian:bookworm-slim
# Certificates for mldp data fetch.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
COPY --from=build /mldp /usr/local/bin/mldp
COPY --from=build /THIRD_PARTY.txt /usr/share/doc/mldp/THIRD_PARTY.txt
RUN useradd --uid 1000 --create-home mldp
USER mldp
WORKDIR /home/mldp
CMD ["mldp", "--help"]
